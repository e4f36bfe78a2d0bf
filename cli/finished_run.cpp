#include "finished_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "cli/print.h"
#include "model/job_facts.h"
#include "model/run_directory.h"
#include "profile_file.h"
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

constexpr int kMostLines = 40;

/// "failed", or of several candidates "failed for b; passed for c, d".
std::string outcomes_of(const std::string& name, const std::vector<GateResult>& gates) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> outcomes;
  std::set<std::string> candidates;
  for (const GateResult& gate : gates) {
    candidates.insert(gate.candidate);
    if (gate.name() != name) continue;
    const std::string_view word = gate.word();
    const auto known = std::ranges::find(outcomes, word, [](const auto& one) { return one.first; });
    if (known == outcomes.end())
      outcomes.push_back({word, {gate.candidate}});
    else
      known->second.push_back(gate.candidate);
  }
  if (candidates.size() == 1 && outcomes.size() == 1) return std::string(outcomes.front().first);
  std::vector<std::string> parts;
  for (const auto& [word, names] : outcomes)
    parts.push_back(fmt::format("{} for {}", word, fmt::join(names, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// The default gates and what they say, for people; empty where gates are named.
std::string default_gates_text(const FinishedRun& finished, const Ending& ending, int width) {
  constexpr std::size_t kMostNamed = 3;
  const std::vector<GateResult>& gates = finished.results.gates;
  if (ending.default_gates == DefaultGates::named) return {};
  if (gates.empty()) return "\n" + wrapped("No gate decided the exit code.", 0, width);
  const char* words = ending.default_gates == DefaultGates::decide
                          ? "No gate was named, so the default gates decided the exit code:"
                          : "No gate was named, so none decided the exit code. With --gate "
                            "default these would have:";
  std::vector<std::string> names;
  for (const GateResult& gate : gates)
    if (std::ranges::find(names, gate.name()) == names.end()) names.push_back(gate.name());
  const std::size_t told = ending.verbose ? names.size() : std::min(names.size(), kMostNamed);
  std::string text = "\n" + wrapped(words, 0, width);
  for (std::size_t i = 0; i < told; ++i)
    text += "  " +
            wrapped(escape_terminal(names[i] + ": " + outcomes_of(names[i], gates)), 4, width - 2);
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

DefaultGates default_gates_of(const Document& config) {
  if (!config.gates.empty()) return DefaultGates::named;
  return config.default_gates_decide() ? DefaultGates::decide : DefaultGates::inform;
}

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
  return {for_terminal(model, finished, ending, ""),
          render_exports(ending.exports, model, ending.kept)};
}

Told write_outputs(const std::filesystem::path& directory, const FinishedRun& finished,
                   const Ending& ending) {
  ReportModel model = model_of(finished);
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
  Told told{for_terminal(model, finished, ending,
                         fmt::format("\nreport: {}\n", escape_terminal(report.string()))),
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
