// The report as a comment of a pull request.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// At most 20 lines, then the folded table of all metrics. The first line is a hidden marker by
/// which a bot finds its own comment and updates it.
std::string render_markdown(const ReportModel& model);

}  // namespace memduel
