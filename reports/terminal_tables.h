// Lines and tables of the report for a terminal.
#pragma once

#include <string>

#include "reports/formats/terminal_text.h"
#include "reports/tables/report_model.h"

namespace memduel {

/// A verdict in its colour, and a warning or limitation with its advice: as lines that fit.
std::string headline_lines(const Headline& headline, const TerminalOptions& options);
/// A command at the end of the advice keeps its line.
std::string note_lines(const char* kind, const Note& note, int width);

/// The important metrics, with a blank line before it: 80 columns.
std::string render_table(const ReportModel& model, const TerminalOptions& options);

/// Each round's median peak as a sparkline, by role and arm; empty where no arm has two rounds.
std::string render_rounds(const ReportModel& model);

/// What profile trials left, and the commands that open it, which are not broken.
std::string render_profiles(const ReportModel& model, const TerminalOptions& options);

}  // namespace memduel
