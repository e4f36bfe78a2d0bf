// Where the arms differ, in the report for a terminal.
#pragma once

#include <string>

#include "reports/report_model.h"
#include "reports/terminal.h"

namespace memduel {

/// The largest stacks of every table, three lines each; empty without profile trials.
std::string render_differences(const ReportModel& model, const TerminalOptions& options);

}  // namespace memduel
