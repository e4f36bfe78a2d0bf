// The report for a terminal.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

struct TerminalOptions {
  bool color = false;  ///< the caller looks at NO_COLOR and at whether stdout is a terminal
  int width = 80;      ///< columns; sentences are wrapped, the table needs 80
};

/// Sentences, the important metrics as a table, and each round's median peak as a sparkline.
std::string render_terminal(const ReportModel& model, const TerminalOptions& options = {});

/// A verdict in its colour, and a warning or limitation with its advice: as lines that fit.
std::string headline_lines(const Headline& headline, const TerminalOptions& options);
std::string note_lines(const char* kind, const Note& note, int width);

/// That table alone, with a blank line before it: 80 columns.
std::string render_table(const ReportModel& model, const TerminalOptions& options = {});

}  // namespace memduel
