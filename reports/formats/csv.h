// Every number of a run as one table, for other tools.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// One line per value: trial, block, position, arm, kind, status, role, round, phase, metric,
/// value. Round and phase are empty where the value belongs to the whole trial or round.
std::string render_csv(const ReportModel& model);

}  // namespace memduel
