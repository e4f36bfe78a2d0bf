// The peaks of a training's parts, for a terminal.
#pragma once

#include <string>

#include "reports/formats/terminal_text.h"
#include "reports/tables/report_model.h"

namespace memduel {

/// The baseline and as many arms as the width holds; empty where no role has parts.
std::string render_parts(const ReportModel& model, const TerminalOptions& options);

}  // namespace memduel
