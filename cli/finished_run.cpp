#include "cli/finished_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/json/results_json.h"
#include "base/atomic_file.h"
#include "base/characters.h"
#include "base/file.h"
#include "base/run_directory.h"
#include "cli/print.h"
#include "cli/profile_file.h"
#include "reports/formats/html.h"
#include "reports/formats/terminal.h"
#include "reports/formats/terminal_text.h"
#include "reports/tables/thinned_rounds.h"

namespace memduel::cli {
namespace {

constexpr int kMostLines = 40;

/// The gates that decided without anybody having named one, for people; empty where some were
/// named.
std::string default_gates_text(const FinishedRun& finished, const Ending& ending, int width) {
  constexpr std::size_t kMostNamed = 3;
  const AnalysisSettings settings = settings_from_config(finished.run.config);
  const std::vector<GateResult>& gates = finished.results.gates;
  if (!ending.default_gates || !settings.gates.empty() || gates.empty()) return {};
  const char* words = settings.default_gates
                          ? "Nobody named a gate, so these defaults decided the exit code "
                            "(--no-default-gates: none does):"
                          : "Nobody named a gate; these defaults only inform:";
  // One for each candidate, in the same words.
  std::vector<std::string> names;
  for (const GateResult& gate : gates)
    if (std::ranges::find(names, gate.gate) == names.end()) names.push_back(gate.gate);
  const std::size_t told = ending.verbose ? names.size() : std::min(names.size(), kMostNamed);
  std::string text = "\n" + wrapped(words, 0, width);
  for (std::size_t i = 0; i < told; ++i) text += "  " + escape_terminal(names[i]) + "\n";
  if (told < names.size()) text += fmt::format("  and {} more\n", names.size() - told);
  return text;
}

/// `last` is printed last.
std::string for_terminal(const ReportModel& model, const FinishedRun& finished,
                         const Ending& ending, const std::string& last) {
  TerminalOptions options;
  options.color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  options.width = columns_of(STDOUT_FILENO);
  const std::string closing = default_gates_text(finished, ending, options.width) + last;
  if (ending.verbose) return render_terminal(model, options) + closing;
  const auto lines = static_cast<int>(std::ranges::count(closing, '\n'));
  return render_summary(model, options, kMostLines - lines) + closing;
}

}  // namespace

ReportModel model_of(const FinishedRun& finished, const ReportOptions& options) {
  ReportOptions all = options;
  all.profiles = finished.profiles;
  all.directory = finished.directory;
  return build_report_model(finished.results, finished.run, all);
}

void prepare_page(ReportModel& model, const FinishedRun& finished,
                  const std::filesystem::path& directory) {
  RunFlamesOptions options;
  options.confidential = model.confidential;
  model.flames =
      load_flames(directory, flame_pairs(model.results, finished.profiles), open_profile, options);
  model.round_step = thin_rounds(model.results);
}

Told told_of(const FinishedRun& finished, const Ending& ending) {
  const ReportModel model = model_of(finished);
  return {for_terminal(model, finished, ending, ""), render_exports(ending.exports, model)};
}

Told write_outputs(const std::filesystem::path& directory, const FinishedRun& finished,
                   const Ending& ending) {
  AtomicFile file(directory / kResultsFile);
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
  const std::filesystem::path report = directory / kReportFile;
  Told told{for_terminal(model, finished, ending,
                         fmt::format("\nreport: {}\n", escape_terminal(report.string()))),
            render_exports(ending.exports, model)};
  prepare_page(model, finished, directory);
  write_file_atomically(report, render_html(model));
  return told;
}

void deliver(const Told& told, bool quiet) {
  if (!quiet) print(told.text);
  for (const RenderedExport& rendered : told.exports)
    write_named_file(rendered.file, rendered.text);
}

}  // namespace memduel::cli
