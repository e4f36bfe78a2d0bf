#include "cli/finished_run.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "analysis/growth/growing_stacks.h"
#include "analysis/json/results_json.h"
#include "analysis/verdicts/moved_peaks.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/calibration_file.h"
#include "cli/profile_file.h"
#include "experiment/findings/arm_differences.h"
#include "experiment/findings/kept_round_ends.h"
#include "experiment/findings/tracer_agreement.h"
#include "experiment/run/kept_profiles.h"
#include "experiment/run/kept_run.h"
#include "reports/formats/html.h"
#include "reports/formats/terminal.h"
#include "reports/formats/terminal_text.h"

namespace memduel::cli {
namespace {

void name_growing_stacks(FinishedRun& finished, const std::filesystem::path& directory) {
  Results& results = finished.results;
  const int warmup = settings_from_config(finished.run.config).warmup_rounds;
  for (Growth& row : results.growth) {
    if (!asks_for_stacks(row)) continue;
    const auto live =
        kept_round_ends(directory, finished.run, row.arm, row.role, results.limitations);
    if (live) row.stacks = growing_stacks(*live, *row.slope, warmup);
  }
}

}  // namespace

AnalysisSettings settings_for(const RunData& run, const std::vector<std::string>& gates,
                              std::optional<Calibration> calibration) {
  AnalysisSettings settings = settings_from_config(run.config);
  settings.calibration = std::move(calibration);
  if (!gates.empty()) {
    settings.gates.clear();
    for (const std::string& gate : gates) settings.gates.push_back(parse_gate(gate));
  }
  return settings;
}

AnalysisSettings settings_in(const std::filesystem::path& directory, const RunData& run,
                             const std::vector<std::string>& gates) {
  return settings_for(run, gates, read_calibration(directory / kCalibrationFile));
}

FinishedRun analyse_directory(const std::filesystem::path& directory,
                              const std::vector<std::string>& gates, WithSeries series) {
  FinishedRun finished;
  finished.run = read_kept_run(directory, series);
  finished.results = analyse(finished.run, settings_in(directory, finished.run, gates));
  add_profiles(finished, directory);
  return finished;
}

void add_profiles(FinishedRun& finished, const std::filesystem::path& directory) {
  finished.profiles.clear();
  for (const std::filesystem::path& file : kept_profiles(directory))
    finished.profiles.push_back({file.filename().string(), std::filesystem::file_size(file)});
  Results& results = finished.results;
  ArmDifferences found = arm_differences(directory, finished.run);
  results.differences = std::move(found.differences);
  results.difference_totals = std::move(found.totals);
  for (Note& note : found.limitations) results.limitations.push_back(std::move(note));
  for (Note& note : moved_peaks(finished.run, results.baseline, results.difference_totals))
    results.limitations.push_back(std::move(note));
  name_growing_stacks(finished, directory);
  RunAgreement traced = run_agreement(directory, finished.run);
  results.agreement = std::move(traced.agreement);
  for (Note& note : traced.limitations) results.limitations.push_back(std::move(note));
  if (results.difference_totals.empty() && !arms_to_explain(results).empty())
    results.limitations.push_back(
        {"where_unknown", "a gate failed, and no profile says where the arms differ",
         "repeat the run with this gate, and with time for one trial more of each side"});
}

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

void write_outputs(const std::filesystem::path& directory, const FinishedRun& finished) {
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
  add_flames(model, finished, directory);
  write_file_atomically(directory / "report.html", render_html(model));
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
  TerminalOptions options;
  options.color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  print(render_terminal(model_of(finished), options));
}

std::string fitted_to(int descriptor, const std::string& text) {
  constexpr int kLeastColumns = 20;
  winsize size{};
  const bool terminal = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return terminal && size.ws_col >= kLeastColumns ? fitted(text, size.ws_col) : text;
}

void print_fitted(const std::string& text) {
  print(fitted_to(STDOUT_FILENO, text));
}

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  const bool is_done = std::fflush(stdout) == 0 && written;
  // A reader that has seen enough (head) is no failure.
  if (!is_done && errno != EPIPE) throw Error(ExitCode::io, "cannot write", "stdout");
}

}  // namespace memduel::cli
