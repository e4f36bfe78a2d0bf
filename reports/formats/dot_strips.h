// Every trial as a dot in lines of text, for hosts that show no picture.
#pragma once

#include <string>
#include <vector>

#include "reports/tables/report_model.h"

namespace memduel {

/// Of the first row that a gate asks about: a line that says what is drawn, then one for each arm,
/// from 0, or a value below it, to the largest value. Empty where no gate's row was measured.
std::vector<std::string> dot_strips(const ReportModel& model);

}  // namespace memduel
