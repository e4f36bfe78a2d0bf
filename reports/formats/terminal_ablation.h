// The ablation in the report for a terminal.
#pragma once

#include <string>

#include "reports/formats/terminal_text.h"
#include "reports/tables/report_model.h"

namespace memduel {

/// A table of 80 columns for every metric of whole trials, and the largest savings of
/// every phase; empty without an ablation.
std::string render_ablation(const ReportModel& model, const TerminalOptions& options);

}  // namespace memduel
