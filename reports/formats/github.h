// The gates as GitHub Actions workflow commands, which show as annotations of a job.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// One line per gate: ::error where it makes the exit code, ::warning for one that is inconclusive
/// or was not measured without that, ::notice for one that passed or is advisory.
/// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
std::string render_github(const ReportModel& model);

}  // namespace memduel
