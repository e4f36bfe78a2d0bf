// What a run prints when it ends: short enough that the verdict stays on the screen.
#pragma once

#include <string>

#include "reports/formats/terminal.h"

namespace memduel {

/// What was compared, the verdicts, the largest causes and the warnings that matter, on at most
/// `lines` lines. Where there is more, the last line says how to see it; `render_terminal` has all.
std::string render_summary(const ReportModel& model, const TerminalOptions& options = {},
                           int lines = 36);

}  // namespace memduel
