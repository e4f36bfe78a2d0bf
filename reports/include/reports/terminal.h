// The report and a watched process tree on a terminal, and the text that both are made of: colors,
// lines that fit, cells of a table, sparklines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/report_document.h"
#include "verdict/questions.h"
#include "verdict/results.h"

namespace memduel {

struct TerminalOptions {
  bool color = false;  ///< the caller looks at NO_COLOR and at whether stdout is a terminal
  int width = 80;      ///< columns; sentences are wrapped, tables need 80
};

std::string painted(const std::string& text, const char* color, const TerminalOptions& options);

/// Words of `text` on lines of at most `width` columns; continued lines start with `indent` spaces.
std::string wrapped(const std::string& text, size_t indent, int width);

/// `text` with its lines broken where they are wider than `width`: below the last column that they
/// begin with, as in a list of names and what they are, else two spaces in. Commands stay whole,
/// for people copy them, and so do lines with escape sequences.
std::string fitted(const std::string& text, int width);

/// Exactly `width` columns; longer text is cut and ends in an ellipsis.
std::string padded(const std::string& text, size_t width, bool right);

/// One bar per value, from `low` to `high`.
std::string sparkline(const std::vector<double>& values, double low, double high);

/// At most `width` values: of more, the largest of each stretch.
std::vector<double> thinned(const std::vector<double>& values, std::size_t width);

/// What a run prints when it ends: the first screen of the document. Parts that can be left out
/// are, so that it has at most `lines` lines if that is possible.
std::string render_summary(const ReportDocument& document, const TerminalOptions& options = {},
                           int lines = 22);

/// The first screen and all details.
std::string render_terminal(const ReportDocument& document, const TerminalOptions& options = {});

/// Lines of at most options.width columns.
std::vector<std::string> watch_screen(const WatchSnapshot& snapshot,
                                      const TerminalOptions& options);

/// "12 min 05 s  rss 1.25 GiB  pss 1.10 GiB  round 37  +1.00 MiB/round  limit 31%"
std::string watch_line(const WatchSnapshot& snapshot);

/// What the watch saw, in sentences of at most `width` columns, for its end.
std::string watch_summary(const WatchSnapshot& snapshot, int width);

}  // namespace memduel
