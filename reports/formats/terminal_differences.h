// Where the arms differ, in the report for a terminal.
#pragma once

#include <string>

#include "reports/formats/terminal_text.h"
#include "reports/tables/report_model.h"

namespace memduel {

/// The largest stacks of every table, three lines each; empty without profile trials.
std::string render_differences(const ReportModel& model, const TerminalOptions& options);

/// The waterfall of the first role, a line a step; empty without snapshots.
std::string render_resident(const ReportModel& model, const TerminalOptions& options);

}  // namespace memduel
