#include "cli/finished_run.h"

#include <unistd.h>

#include <cstdlib>

#include "analysis/json/results_json.h"
#include "base/atomic_file.h"
#include "base/file.h"
#include "cli/print.h"
#include "cli/profile_file.h"
#include "reports/formats/html.h"
#include "reports/formats/terminal.h"

namespace memduel::cli {
namespace {

std::string for_terminal(const ReportModel& model) {
  TerminalOptions options;
  options.color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return render_terminal(model, options);
}

}  // namespace

ReportModel model_of(const FinishedRun& finished, const ReportOptions& options) {
  ReportOptions all = options;
  all.profiles = finished.profiles;
  return build_report_model(finished.results, finished.run, all);
}

void add_flames(ReportModel& model, const FinishedRun& finished,
                const std::filesystem::path& directory) {
  RunFlamesOptions options;
  options.confidential = model.confidential;
  model.flames =
      load_flames(directory, flame_pairs(model.results, finished.profiles), open_profile, options);
}

std::string write_outputs(const std::filesystem::path& directory, const FinishedRun& finished) {
  AtomicFile file(directory / "results.json");
  std::string piece;
  write_results(finished.results, 1, [&](std::string_view text) {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    piece += text;
    if (piece.size() < kPiece) return;
    file.write(piece);
    piece.clear();
  });
  file.write(piece + "\n");
  file.finish();
  ReportModel model = model_of(finished);
  std::string text = for_terminal(model);
  add_flames(model, finished, directory);
  write_file_atomically(directory / "report.html", render_html(model));
  return text;
}

std::string default_gates_line(const FinishedRun& finished) {
  const AnalysisSettings settings = settings_from_config(finished.run.config);
  if (!settings.gates.empty() || finished.results.gates.empty()) return {};
  std::string text = settings.default_gates
                         ? "Nobody named a gate, so these defaults decided the exit code "
                           "(--no-default-gates: none does):\n"
                         : "Nobody named a gate; these defaults only inform:\n";
  for (const GateResult& gate : finished.results.gates) text += "  " + gate.gate + "\n";
  return text;
}

void print_terminal_report(const FinishedRun& finished) {
  print(for_terminal(model_of(finished)));
}

}  // namespace memduel::cli
