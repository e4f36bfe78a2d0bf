// How a finished run is shown: the formats of its report, the files that get them, the page, and
// the text for standard output.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "named_file.h"
#include "reports/report_model.h"
#include "run/conclusion.h"

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

/// What every report of the run is written from.
ReportModel model_of(const FinishedRun& finished, const ReportOptions& options = {});

/// Adds the flame graphs, which only the page has, to its model, and leaves out the rounds that a
/// page has no room for.
void prepare_page(ReportModel& model, const FinishedRun& finished,
                  const std::filesystem::path& directory);

/// Whether somebody named a gate, so that no default one is judged.
bool has_named_gates(const Document& config);

/// What of a run is printed when it has ended.
struct Ending {
  bool verbose = false;  ///< every table; else the first screen
  /// Of the gates that judged it; absent: as its config has them.
  std::optional<bool> has_named_gates = std::nullopt;
  std::vector<Export> exports = {};  // NOLINT(readability-redundant-member-init): -Wextra
  Kept kept = {};                    // NOLINT(readability-redundant-member-init): -Wextra
};

/// What is made of a run's model, which is built once, beside its page.
struct Told {
  std::string text;  ///< for stdout: in colour where that is a terminal and NO_COLOR is not set
  std::vector<RenderedExport> exports;
};

Told told_of(const FinishedRun& finished, const Ending& ending);

/// Writes results.json and report.html into `directory`, too; the text says where the report is.
Told write_outputs(const std::filesystem::path& directory, const FinishedRun& finished,
                   const Ending& ending = {});

/// Prints the text unless `quiet`, and writes the exports. Throws Error(io).
void deliver(const Told& told, bool quiet = false);

}  // namespace memduel::cli
