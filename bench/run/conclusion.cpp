#include "run/conclusion.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "findings.h"
#include "model/experiment_view.h"
#include "model/job_facts.h"
#include "model/removed.h"
#include "model/run_directory.h"
#include "run/store.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"
#include "util/text.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// The job and the baseline without its name: what it runs, not what it is called.
std::string program_of(const Document& config) {
  Document alone;
  alone.workload = config.workload;
  if (const Variant* baseline = config.variant(config.baseline)) alone.variants = {*baseline};
  for (Variant& variant : alone.variants) {
    variant.name.clear();
    variant.description.reset();
    variant.preset.reset();
    variant.twin_of.reset();
  }
  return given_in(alone).dump();
}

}  // namespace

std::optional<fs::path> calibration_path(const Document& config,
                                         const nlohmann::json& environment) {
  const auto cache = cache_directory();
  if (!cache) return std::nullopt;
  const std::string hash = sha256_hex(program_of(config)).substr(0, 12);
  return *cache / "calibrations" / environment.at("fingerprint").get<std::string>() /
         (file_name_for(config.name) + "-" + hash + ".json");
}

std::optional<Calibration> read_calibration(const fs::path& path) {
  // A folder of another user's, as below sudo -u, holds none for this one.
  if (::access(path.c_str(), R_OK) != 0) return std::nullopt;
  const nlohmann::json json = parse_foreign_json(read_text_file(path));
  if (json.is_discarded())
    throw Error(ExitCode::io, "is not JSON", path.string(),
                "delete it and run memduel calibrate again");
  return calibration_from_json(json, path.string());
}

void write_calibration(const fs::path& path, const Calibration& calibration) {
  make_directory(path.parent_path());
  write_file_atomically(path, calibration_to_json(calibration).dump(1) + "\n");
}

namespace {

namespace fs = std::filesystem;

void add_notes(std::vector<Note>& to, std::vector<Note> notes) {
  std::move(notes.begin(), notes.end(), std::back_inserter(to));
}

void name_growing_stacks(Results& results, const RunData& run, const fs::path& directory,
                         ProfileReader& reader, int warmup_rounds) {
  for (Growth& row : results.growth) {
    if (!asks_for_stacks(row)) continue;
    const auto live =
        kept_round_ends(directory, run, row.arm, row.role, reader, results.limitations);
    if (live) row.stacks = growing_stacks(*live, *row.slope, warmup_rounds);
  }
}

/// Where the arms differ, by the profiles of their trials.
void add_differences(Results& results, const RunData& run, const fs::path& directory,
                     ProfileReader& reader) {
  ArmDifferences found = arm_differences(directory, run, reader);
  results.differences = std::move(found.differences);
  results.difference_totals = std::move(found.totals);
  results.resident = std::move(found.resident);
  add_notes(results.limitations, std::move(found.limitations));
  add_notes(results.limitations, moved_peaks(run, results.baseline, results.difference_totals));
}

void note_unexplained(Results& results, const RunData& run) {
  if (!results.difference_totals.empty() || !gate_failed(results)) return;
  const auto go = std::ranges::find(results.limitations, kGoHeapNote, &Note::code);
  if (go != results.limitations.end()) {
    results.limitations.push_back({"where_unknown",
                                   "a gate failed, but no profile shows where the variants differ",
                                   go->advice});
    return;
  }
  const bool is_off = run.config.profile && run.config.profile->trials == 0;
  results.limitations.push_back(
      {"where_unknown", "a gate failed, but no profile shows where the variants differ",
       is_off ? "rerun without --no-why, or with --set profile.trials=1"
              : "rerun with this gate, with time for one more trial of each variant"});
}

/// Of a run that an earlier version measured.
void note_removed_tracers(Results& results, const RunData& run) {
  for (const std::string& tracer : tracers_of(run.trials))
    if (const auto instead = replacement_for(Removed::tracer, tracer))
      results.limitations.push_back({"profiles_not_read",
                                     fmt::format("profiles of {} are no longer read", tracer),
                                     std::string(*instead)});
}

/// Growth of a process without rounds is told by time, from its samples.
bool grows_by_time(const RunData& run) {
  return std::ranges::any_of(run.trials, [](const TrialData& trial) {
    return std::ranges::any_of(trial.roles,
                               [](const RoleData& role) { return role.rounds.size() < 2; });
  });
}

std::vector<ProfileFile> profiles_in(const fs::path& directory) {
  std::vector<ProfileFile> profiles;
  for (const fs::path& file : kept_profiles(directory))
    profiles.push_back({file.filename().string(), fs::file_size(file)});
  return profiles;
}

}  // namespace

Document judged_config(Document config, const Demands& demands) {
  using enum DefaultGatesDecide;
  if (!demands.gates.empty()) config.gates = demands.gates;
  if (demands.strict_gates) config.strict_gates = true;
  if (demands.is_check && config.default_gates == in_check) config.default_gates = always;
  if (demands.no_default_gates) config.default_gates = never;
  if (std::ranges::find(demands.gates, kDefaultGates) != demands.gates.end())
    config.default_gates.reset();
  return config;
}

AnalysisSettings settings_for(const RunData& run, const Demands& demands,
                              std::optional<Calibration> calibration) {
  AnalysisSettings settings = settings_from_config(judged_config(run.config, demands));
  settings.calibration = std::move(calibration);
  settings.on_inconclusive = demands.on_inconclusive;
  settings.gates_of_config = demands.gates.empty();
  return settings;
}

AnalysisSettings settings_in(const fs::path& directory, const RunData& run,
                             const Demands& demands) {
  return settings_for(run, demands, read_calibration(directory / kCalibrationFile));
}

FinishedRun conclude(const fs::path& directory, const Demands& demands, WithSeries series) {
  FinishedRun finished;
  finished.directory = directory;
  finished.run = read_kept_run(directory, series);
  if (series == WithSeries::no && grows_by_time(finished.run))
    finished.run = read_kept_run(directory, WithSeries::yes);
  AnalysisSettings settings = settings_in(directory, finished.run, demands);
  settings.still_running = is_in_use(directory);
  finished.results = analyse(finished.run, settings);
  finished.profiles = profiles_in(directory);
  Results& results = finished.results;
  add_printed_differences(results, finished.run, directory);
  add_differences(results, finished.run, directory, *finished.profile_reader);
  name_growing_stacks(results, finished.run, directory, *finished.profile_reader,
                      settings.warmup_rounds);
  note_removed_tracers(results, finished.run);
  note_unexplained(results, finished.run);
  add_notes(results.warnings, ungated_rss(results));
  add_notes(results.limitations, accepted_exit_statuses(results));
  add_notes(results.limitations, untouched_heap(results));
  return finished;
}

}  // namespace memduel
