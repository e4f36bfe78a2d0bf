// The report as one file that opens from disk and needs no network.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// A complete HTML page: the viewer, and the model as base64 of gzip of JSON. Its content security
/// policy lets only the viewer's own script and style through, by their hashes.
std::string render_html(const ReportModel& model);

}  // namespace memduel
