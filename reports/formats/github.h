// The gates as GitHub Actions workflow commands, which show as annotations of a job.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// One line per gate: ::error for a failed one, ::warning for an undecided one, ::notice for one
/// that passed. https://docs.github.com/actions/reference/workflow-commands-for-github-actions
std::string render_github(const ReportModel& model);

}  // namespace memduel
