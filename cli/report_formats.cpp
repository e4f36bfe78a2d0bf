#include "cli/report_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/json/results_json.h"
#include "base/error.h"
#include "reports/formats/csv.h"
#include "reports/formats/github.h"
#include "reports/formats/junit.h"
#include "reports/formats/markdown.h"
#include "reports/formats/terminal.h"
#include "reports/formats/tracking.h"

namespace memduel::cli {
namespace {

std::string render_json(const ReportModel& model) {
  std::string text;
  write_results(model.results, 1, [&](std::string_view piece) { text += piece; });
  return text + "\n";
}

std::string render_text(const ReportModel& model) {
  return render_terminal(model);
}

struct Format {
  const char* name;
  std::string (*render)(const ReportModel&);
};

constexpr std::array<Format, 8> kFormats = {{{"text", render_text},
                                             {"markdown", render_markdown},
                                             {"json", render_json},
                                             {"csv", render_csv},
                                             {"junit", render_junit},
                                             {"github", render_github},
                                             {"bencher", render_bencher},
                                             {"benchmark-action", render_benchmark_action}}};

const Format& format_named(const std::string& name) {
  const auto found = std::ranges::find(kFormats, name, &Format::name);
  if (found != kFormats.end()) return *found;
  throw Error(ExitCode::usage,
              fmt::format("found format \"{}\", expected one of: {}", name,
                          fmt::join(report_formats(), ", ")),
              "--export");
}

}  // namespace

std::vector<std::string> report_formats() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string render_report(const std::string& format, const ReportModel& model) {
  return format_named(format).render(model);
}

void check_exports(const std::vector<Export>& exports, const Kept& kept) {
  std::vector<std::string> files;
  for (const auto& [format, file] : exports) {
    format_named(format);
    files.push_back(file);
  }
  check_named_files(files, kept);
}

std::vector<RenderedExport> render_exports(const std::vector<Export>& exports,
                                           const ReportModel& model, const Kept& kept) {
  std::vector<RenderedExport> rendered;
  for (const auto& [format, file] : exports)
    rendered.push_back({NamedFile(file, kept), render_report(format, model)});
  return rendered;
}

}  // namespace memduel::cli
