// The report and a watched process tree on a terminal, and the text that both are made of: colors,
// lines that fit, cells of a table, sparklines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/report_model.h"
#include "verdict/questions.h"
#include "verdict/results.h"

namespace memduel {

struct TerminalOptions {
  bool color = false;  ///< the caller looks at NO_COLOR and at whether stdout is a terminal
  int width = 80;      ///< columns; sentences are wrapped, tables need 80
};

/// Of a change the sign says whether there is more or less, the colour, which repeats the word,
/// whether that is better or worse.
struct VerdictLook {
  const char* sign;
  const char* color;
};

VerdictLook look_of(Verdict verdict, bool more);

std::string painted(const std::string& text, const char* color, const TerminalOptions& options);

/// Words of `text` on lines of at most `width` columns; continued lines start with `indent` spaces.
std::string wrapped(const std::string& text, size_t indent, int width);

/// `text` with its lines broken where they are wider than `width`: below the last column that they
/// begin with, as in a list of names and what they are, else two spaces in. Commands stay whole,
/// for people copy them, and so do lines with escape sequences.
std::string fitted(const std::string& text, int width);

/// Exactly `width` columns; longer text is cut and ends in an ellipsis.
std::string padded(const std::string& text, size_t width, bool right);

/// Left-aligned text with a space after it, right-aligned text with a space before it; escaped.
std::string left(const std::string& text, size_t width);
std::string right(const std::string& text, size_t width);

/// One bar per value, from `low` to `high`.
std::string sparkline(const std::vector<double>& values, double low, double high);

/// At most `width` values: of more, the largest of each stretch.
std::vector<double> thinned(const std::vector<double>& values, std::size_t width);

/// What a run prints when it ends: what was compared, the verdicts, the largest causes, what to do
/// next and the warnings that matter, on at most `lines` lines, so that the verdict stays on the
/// screen. Where there is more, the last line says how to see it.
std::string render_summary(const ReportModel& model, const TerminalOptions& options = {},
                           int lines = 36);

/// All of that, and the tables: where the arms differ, rounds, the ablation, profiles.
std::string render_terminal(const ReportModel& model, const TerminalOptions& options = {});

/// Lines of at most options.width columns.
std::vector<std::string> watch_screen(const WatchSnapshot& snapshot,
                                      const TerminalOptions& options);

/// "12 min 05 s  rss 1.25 GiB  pss 1.10 GiB  round 37  +1.00 MiB/round  limit 31%"
std::string watch_line(const WatchSnapshot& snapshot);

/// What the watch saw, in sentences of at most `width` columns, for its end.
std::string watch_summary(const WatchSnapshot& snapshot, int width);

}  // namespace memduel
