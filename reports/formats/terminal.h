// The report for a terminal.
#pragma once

#include <string>

#include "reports/formats/terminal_text.h"
#include "reports/tables/report_model.h"

namespace memduel {

/// What a run prints when it ends: what was compared, the verdicts, the largest causes, what to do
/// next and the warnings that matter, on at most `lines` lines, so that the verdict stays on the
/// screen. Where there is more, the last line says how to see it.
std::string render_summary(const ReportModel& model, const TerminalOptions& options = {},
                           int lines = 36);

/// All of that, and the tables: where the arms differ, rounds, the ablation, profiles.
std::string render_terminal(const ReportModel& model, const TerminalOptions& options = {});

}  // namespace memduel
