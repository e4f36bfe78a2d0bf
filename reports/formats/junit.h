// The gates as JUnit XML, which CI systems read.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// One test case per gate. A gate that makes the exit code 1 or 5 is a failure, one that makes it 3
/// an error; every other that did not pass is skipped with its reason. A run in which nothing could
/// be compared is an error of its own.
std::string render_junit(const ReportModel& model);

}  // namespace memduel
