// The formats of a run's report that are text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/tables/report_model.h"

namespace memduel::cli {

/// Their names.
std::vector<std::string> report_formats();

/// Throws Error(usage) for another name.
std::string render_report(const std::string& format, const ReportModel& model);

/// A format and the file that gets it.
using Export = std::pair<std::string, std::string>;

/// Throws Error(usage) for an unknown format: before a run begins.
void check_exports(const std::vector<Export>& exports);

struct RenderedExport {
  std::string file;
  std::string text;
};

std::vector<RenderedExport> render_exports(const std::vector<Export>& exports,
                                           const ReportModel& model);

}  // namespace memduel::cli
