// The gates as JUnit XML, which CI systems read.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// One test case per gate; an undecided gate is skipped with its reason, one that was not measured
/// is an error.
std::string render_junit(const ReportModel& model);

}  // namespace memduel
