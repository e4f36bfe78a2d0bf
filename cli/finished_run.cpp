#include "finished_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "cli/print.h"
#include "model/job_facts.h"
#include "model/run_directory.h"
#include "reports/pages.h"
#include "reports/terminal.h"
#include "reports/text_formats.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"
#include "verdict/result_files.h"

namespace memduel::cli {
namespace {

std::string render_json(const ReportModel& model) {
  std::string text;
  write_results(model.results, 1, [&](std::string_view piece) { text += piece; });
  return text + "\n";
}

/// A format that shows the document.
template <std::string (*Render)(const ReportDocument&)>
std::string render_document(const ReportModel& model) {
  return Render(document_of(model));
}

std::string render_text(const ReportDocument& document) {
  return render_terminal(document);
}

struct Format {
  const char* name;
  std::string (*render)(const ReportModel&);
};

constexpr std::array<Format, 12> kFormats = {{{"text", render_document<render_text>},
                                              {"markdown", render_document<render_markdown>},
                                              {"json", render_json},
                                              {"csv", render_csv},
                                              {"junit", render_document<render_junit>},
                                              {"github", render_document<render_github>},
                                              {"bencher", render_bencher},
                                              {"benchmark-action", render_benchmark_action},
                                              {"benchstat", render_benchstat},
                                              {"hyperfine-json", render_hyperfine_json},
                                              {"hyperfine-csv", render_hyperfine_csv},
                                              {"hyperfine-markdown", render_hyperfine_markdown}}};

const Format& format_named(const std::string& name) {
  const auto found = std::ranges::find(kFormats, name, &Format::name);
  if (found != kFormats.end()) return *found;
  throw Error(ExitCode::usage,
              fmt::format("expected one of {1}, found format \"{0}\"", name,
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

namespace {

/// `last` is printed last.
std::string for_terminal(const ReportDocument& document, bool is_verbose, const std::string& last) {
  TerminalOptions options;
  options.color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  options.width = columns_of(STDOUT_FILENO);
  return (is_verbose ? render_terminal(document, options) : render_summary(document, options)) +
         last;
}

}  // namespace

bool has_named_gates(const Document& config) {
  return !config.gates.empty();
}

ReportModel model_of(const FinishedRun& finished, const ReportOptions& options) {
  ReportOptions all = options;
  all.profiles = finished.profiles;
  all.directory = finished.directory;
  if (!all.has_named_gates) all.has_named_gates = has_named_gates(finished.run.config);
  return build_report_model(finished.results, finished.run, all);
}

void prepare_page(ReportModel& model, const FinishedRun& finished,
                  const std::filesystem::path& directory) {
  RunFlamesOptions options;
  options.confidential = model.confidential;
  const auto read = [&](const std::filesystem::path& file) {
    return finished.profile_reader->read(file);
  };
  model.flames =
      load_flames(directory, flame_pairs(model.results, finished.profiles), read, options);
  model.round_step = thin_rounds(model.results);
}

Told told_of(const FinishedRun& finished, const Ending& ending) {
  ReportOptions options;
  options.has_named_gates = ending.has_named_gates;
  const ReportModel model = model_of(finished, options);
  return {for_terminal(document_of(model), ending.verbose, ""),
          render_exports(ending.exports, model, ending.kept)};
}

Told write_outputs(const std::filesystem::path& directory, const FinishedRun& finished,
                   const Ending& ending) {
  ReportOptions options;
  options.has_named_gates = ending.has_named_gates;
  ReportModel model = model_of(finished, options);
  AtomicFile file(directory / kResultsFile);
  std::string piece;
  write_results(model.results, 1, [&](std::string_view text) {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    piece += text;
    if (piece.size() < kPiece) return;
    file.write(piece);
    piece.clear();
  });
  file.write(piece + "\n");
  file.finish();
  const std::filesystem::path report = directory / kReportFile;
  Told told{for_terminal(document_of(model), ending.verbose,
                         fmt::format("Report: {}\n", escape_terminal(report.string()))),
            render_exports(ending.exports, model, ending.kept)};
  prepare_page(model, finished, directory);
  write_file_atomically(report, render_html(model));
  return told;
}

void deliver(const Told& told, bool quiet) {
  if (!quiet) print(told.text);
  for (const RenderedExport& rendered : told.exports) rendered.file.write(rendered.text);
}

}  // namespace memduel::cli
