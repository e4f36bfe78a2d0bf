// The formats of a run's report that are text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/named_file.h"
#include "reports/tables/report_model.h"

namespace memduel::cli {

/// Their names.
std::vector<std::string> report_formats();

/// Throws Error(usage) for another name.
std::string render_report(const std::string& format, const ReportModel& model);

/// A format and the file that gets it.
using Export = std::pair<std::string, std::string>;

/// Before a run begins. Throws Error(usage) for an unknown format, and what check_named_files
/// throws.
void check_exports(const std::vector<Export>& exports, const Kept& kept);

struct RenderedExport {
  NamedFile file;
  std::string text;
};

/// Throws what NamedFile throws.
std::vector<RenderedExport> render_exports(const std::vector<Export>& exports,
                                           const ReportModel& model, const Kept& kept);

}  // namespace memduel::cli
