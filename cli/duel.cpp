#include "cli/duel.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <random>

#include "analysis/statistics/hodges_lehmann.h"
#include "base/characters.h"
#include "base/error.h"
#include "base/foreign_json.h"
#include "base/metric_catalogue.h"
#include "base/run_directory.h"
#include "base/sha256.h"
#include "base/standard_error.h"
#include "base/stop_request.h"
#include "base/text.h"
#include "base/text_file.h"
#include "cli/laboratory.h"
#include "cli/print.h"
#include "cli/progress_bar.h"
#include "cli/report_formats.h"
#include "cli/slurm_run.h"
#include "experiment/findings/calibration_file.h"
#include "experiment/plan/environment.h"
#include "experiment/plan/programs.h"
#include "experiment/run/driver.h"
#include "experiment/run/kept_profiles.h"
#include "experiment/supervision/supervisor.h"
#include "experiment/trial/launcher/protocol.h"
#include "experiment/trial/launcher_client.h"
#include "experiment/trial/leftovers.h"
#include "profilers/meters/registry.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

/// What a provider says of this machine; nothing for a job that nobody made.
struct Site {
  nlohmann::json environment = nlohmann::json::object();
  std::map<std::string, std::string> values = {};  // NOLINT(readability-redundant-member-init)
};

Site site_of(const Experiment& experiment, const RunOptions& options) {
  Site site;
  const auto& expansion = experiment.expansion;
  if (!expansion || expansion->kept.at("catalogue").value("site", false) != true) return site;
  nlohmann::json request = site_request(*expansion);
  if (options.data_dir) request["data_dir"] = fs::absolute(*options.data_dir).string();
  const nlohmann::json answer = ask_site(provider_of(*expansion), request, ask_program);
  return {answer.at("environment"), answer.at("values")};
}

/// Throws Error(cannot_measure) for a meter of a GPU that is not here.
void expect_gpu_meters(const Experiment& experiment) {
  for (const std::string& name : experiment.measure.meters) {
    if (name != "nvml" && name != "cuda") continue;
    const Availability here = meter_named(name).works_here();
    if (!here.works)
      throw Error(ExitCode::cannot_measure, fmt::format("meter {}: {}", name, here.why),
                  "measure.meters", "leave it out where there is no GPU");
  }
}

nlohmann::json about(const Expansion& expansion) {
  const nlohmann::json& catalogue = expansion.kept.at("catalogue");
  nlohmann::json programs = expansion.kept.at("programs");
  // Not in the config, which another build of it may answer in the same words.
  if (const auto laboratory = find_laboratory(); programs.empty() && laboratory)
    programs[*laboratory] = sha256_hex_of_file(*laboratory);
  return {{"name", catalogue.at("name")},
          {"version", catalogue.at("version")},
          {"programs", std::move(programs)}};
}

RunHeader header_for(const Experiment& experiment, const Site& site, const RunFacts& facts) {
  RunHeader header;
  header.config = experiment.resolved;
  header.job = experiment.facts;
  header.config_sha256 = experiment.config_sha256;
  header.environment = describe_environment(site.environment);
  if (const auto& expansion = experiment.expansion)
    header.environment["provider"] = about(*expansion);
  header.environment.update(facts.environment);
  header.programs = program_hashes(experiment);
  header.programs.insert(facts.programs.begin(), facts.programs.end());
  return header;
}

void show(ProgressBar& bar, const Progress& progress, const RunFacts& facts) {
  if (progress.arm.empty()) return;
  const std::string block = progress.block == 0 ? "warm-up"
                            : progress.block == kProfileBlock
                                ? "profile by " + progress.tracer
                                : fmt::format("block {}", progress.block);
  std::string left;
  if (progress.remaining_seconds) {
    const double seconds = *progress.remaining_seconds + facts.seconds_after;
    left = ", " + (seconds < 1 ? "under 1 s" : format_seconds(seconds)) + " left";
  }
  if (facts.label.empty() && progress.done == 1 && progress.remaining_seconds &&
      progress.disk_bytes)
    bar.say(fmt::format("about {} and {} of disk, if nothing ends the run early",
                        format_seconds(*progress.remaining_seconds),
                        format_bytes(*progress.disk_bytes)));
  std::string estimates;
  for (const auto& [arm, peaks] : progress.peaks)
    estimates += fmt::format("{} {} {}", estimates.empty() ? "; so far" : ",", arm,
                             format_bytes(median(peaks)));
  bar.show(progress.done, progress.total,
           fmt::format("{}{}: {}{}", facts.label, block, progress.arm, left), estimates);
}

std::vector<std::string> roles_of(const Experiment& experiment) {
  std::vector<std::string> roles = experiment.facts.roles;
  for (const RoleGroup& group : experiment.facts.groups)
    roles.insert(roles.end(), {group.largest(), group.median()});
  roles.emplace_back(kTree);
  return roles;
}

/// The order of a run that is resumed, else a fresh one.
std::uint64_t order_seed(const nlohmann::json& resumed) {
  const nlohmann::json::json_pointer place("/measure/seed");
  if (resumed.is_object() && resumed.contains(place) && resumed.at(place).is_number_unsigned())
    return resumed.at(place).get<std::uint64_t>();
  // JSON's readers keep 53 bits.
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 21 | device() >> 11) & ((1ULL << 53) - 1);
}

/// Notes grow stale, files move: a run keeps the calibration that it is judged by.
void keep_calibration(const fs::path& directory, const RunHeader& header) {
  const fs::path kept = directory / kCalibrationFile;
  if (fs::exists(kept)) return;
  const auto path = calibration_path(header.config, header.environment);
  const auto calibration = path ? read_calibration(*path) : std::nullopt;
  if (calibration) write_calibration(kept, *calibration);
}

/// Several tracers and rounds leave more files than anyone reads the names of.
std::string profile_lines(const fs::path& directory) {
  constexpr std::size_t kMostNamed = 12;
  const std::vector<fs::path> profiles = kept_profiles(directory);
  if (profiles.size() > kMostNamed)
    return fmt::format("profiles: {} files in {}\n", profiles.size(),
                       escape_terminal((directory / kProfilesFolder).string()));
  std::string text;
  for (const fs::path& profile : profiles)
    text += fmt::format("profile: {}\n", escape_terminal(profile.string()));
  return text;
}

/// A part of a run has no verdict.
int tell_share(const Share& share, const RunOptions& options, const fs::path& directory) {
  if (!options.quiet)
    print_fitted(
        fmt::format("share {} is in {}\nWhen all {} are there:\n"
                    "  memduel merge DIR… --out DIR\n",
                    to_text(share), escape_terminal(directory.string()), share.of));
  return 0;
}

int tell(const DuelRun& run, const RunOptions& options, const fs::path& directory) {
  if (options.share) return tell_share(*options.share, options, directory);
  deliver(run.told, options.quiet);
  if (options.verbose && !options.quiet) print(profile_lines(directory));
  return static_cast<int>(gates_exit_code(run.finished.results, options.fail_on_undecided));
}

}  // namespace

fs::path current_directory() {
  fs::path here = fs::current_path();
  if (valid_utf8(here.string()) == here.string()) return here;
  throw Error(ExitCode::usage, "the name of the current directory is not UTF-8", here.string(),
              "start memduel elsewhere, or rename it");
}

nlohmann::json config_of_resumed(const RunOptions& options) {
  const fs::path config = fs::path(options.out.value_or("")) / kConfigFile;
  if (!options.resume || !options.out || !fs::exists(config)) return nullptr;
  return parse_foreign_json(read_text_file(config));
}

Overrides overrides_from(const RunOptions& options) {
  Overrides overrides;
  overrides.set = options.set;
  if (!options.arms.empty()) overrides.arms = options.arms;
  overrides.repeats = options.repeats;
  overrides.gates = options.gates;
  overrides.strict_gates = options.strict_gates;
  overrides.no_default_gates = options.no_default_gates;
  overrides.seed = options.seed;
  overrides.resumed = config_of_resumed(options);
  overrides.drawn_seed = order_seed(overrides.resumed);
  return overrides;
}

namespace {

/// Directories that this process made for a run. Those that stay empty, because the run was refused
/// before it began, go with the process.
class MadeDirectories {
 public:
  MadeDirectories() = default;
  MadeDirectories(const MadeDirectories&) = delete;
  MadeDirectories& operator=(const MadeDirectories&) = delete;
  ~MadeDirectories() {
    std::error_code not_empty;
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) fs::remove(*made, not_empty);
  }

  /// False where it is there already. Throws Error(io).
  bool make(const fs::path& directory) {
    std::error_code failed;
    const bool is_new = fs::create_directory(directory, failed);
    if (failed)
      throw Error(ExitCode::io, "cannot make the output directory: " + failed.message(),
                  directory.string(), "give another --out");
    if (is_new) made_.push_back(directory);
    return is_new;
  }

 private:
  std::vector<fs::path> made_;
};

}  // namespace

fs::path output_directory(const RunOptions& options, const std::string& name) {
  if (options.out) return *options.out;
  static MadeDirectories made;
  const std::string stem = fmt::format("runs/{}-{:%Y%m%d-%H%M%S}", file_name_for(name),
                                       fmt::localtime(std::time(nullptr)));
  made.make("runs");
  fs::path directory = stem;
  // Another memduel of the same second takes another name.
  for (int number = 2; !made.make(directory); ++number)
    directory = fmt::format("{}-{}", stem, number);
  return directory;
}

// A metric that no known one resembles may come from a mark, and is checked afterwards.
void refuse_bad_gates(const Experiment& experiment) {
  const std::vector<Gate> gates = settings_from_config(experiment.resolved).gates;
  std::vector<std::string> metrics;
  for (const MetricInfo& metric : all_metrics()) metrics.push_back(metric.name);
  const std::vector<std::string> known = metrics;
  for (const Gate& gate : gates)
    if (!nearest_name(gate.metric, known)) metrics.push_back(gate.metric);
  check_gate_names(gates, roles_of(experiment), metrics);
}

namespace {

/// A trial's processes find their marks' socket at a number that programs do not count on.
void refuse_few_descriptors() {
  constexpr rlim_t kLeast = 128;
  static_assert(kLeast > kMarksDescriptor);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  throw Error(
      ExitCode::cannot_measure,
      fmt::format("a process may open {} files here, and {} are needed", limit.rlim_cur, kLeast),
      "", "raise the limit: ulimit -n 1024");
}

void refuse_small_stack() {
  constexpr rlim_t kLeast = 256 << 10;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  throw Error(ExitCode::cannot_measure,
              fmt::format("the stack may be {} here, and {} are needed",
                          format_bytes(static_cast<double>(limit.rlim_cur)),
                          format_bytes(static_cast<double>(kLeast))),
              "", "raise the limit: ulimit -s 8192");
}

}  // namespace

void end_what_was_left() {
  const Leftovers left = find_leftovers();
  if (left.empty()) return;
  say(fmt::format("memduel: ended what a memduel that was killed left: {}\n",
                  describe_leftovers(left)));
  end_leftovers(left);
}

namespace {

DuelRun with_outputs(FinishedRun finished, const RunOptions& options, const fs::path& directory) {
  Told told =
      write_outputs(directory, finished, {options.verbose, options.gates.empty(), options.exports});
  return {std::move(finished), std::move(told)};
}

DuelRun duel_on_slurm(const Experiment& experiment, const RunOptions& options,
                      const fs::path& directory, const RunFacts& facts) {
  refuse_bad_gates(experiment);
  submit_to_slurm(facts.config, experiment, options, directory);
  collect_from_slurm(options, directory, facts.label);
  return with_outputs(conclude(directory), options, directory);
}

/// The trials of a run, into its store.
RunOutcome measure(const Experiment& experiment, const RunOptions& options,
                   const fs::path& directory, const RunFacts& facts, DriverOptions driver) {
  refuse_bad_gates(experiment);
  refuse_few_descriptors();
  refuse_small_stack();
  end_what_was_left();
  SupervisorOptions supervision;
  supervision.launcher = find_launcher();
  supervision.stop = &listen_for_signals();

  const Site site = site_of(experiment, options);
  expect_gpu_meters(experiment);
  driver.site_values = site.values;
  driver.max_minutes = options.max_minutes;
  driver.share = options.share;
  driver.stop = supervision.stop;
  const RunHeader header = header_for(experiment, site, facts);
  Store store =
      options.resume ? Store::resume(directory, header) : Store::create(directory, header);
  if (facts.warning) store.add_warning(*facts.warning);
  keep_calibration(directory, header);
  driver.should_stop = [&](const RunData& so_far) {
    return may_end(so_far, settings_in(directory, so_far));
  };
  // A config that speaks of profiles has decided it.
  if (!experiment.resolved.contains("profile"))
    driver.arms_to_profile = [&](const RunData& so_far) {
      return arms_to_explain(analyse(so_far, settings_in(directory, so_far)));
    };
  const auto run_one = [&supervision](const TrialPlan& plan) {
    return run_trial(plan, supervision);
  };
  return run_experiment(experiment, store, run_one, driver);
}

}  // namespace

DuelRun run_duel(const Experiment& experiment, const RunOptions& options, const fs::path& directory,
                 const RunFacts& facts) {
  if (options.slurm) return duel_on_slurm(experiment, options, directory, facts);
  ProgressBar bar(options.quiet);
  DriverOptions driver;
  driver.progress = [&](const Progress& progress) { show(bar, progress, facts); };
  const RunOutcome outcome = measure(experiment, options, directory, facts, std::move(driver));
  bar.finish();
  FinishedRun finished = conclude(directory);
  if (outcome.end == RunEnd::out_of_time)
    finished.results.warnings.push_back(
        {"out_of_time",
         fmt::format(
             "the run ended after {} of at most {} blocks, because --max-minutes had passed",
             outcome.blocks, planned_blocks(experiment.measure)),
         "go on with --resume"});
  return with_outputs(std::move(finished), options, directory);
}

Forecast forecast_duel(const Experiment& experiment, const RunOptions& options,
                       const fs::path& directory) {
  Forecast forecast;
  DriverOptions driver;
  driver.most_trials = 1;
  driver.progress = [&](const Progress& progress) {
    forecast = {progress.remaining_seconds.value_or(0), progress.disk_bytes.value_or(0)};
  };
  measure(experiment, options, directory, {}, std::move(driver));
  return forecast;
}

int duel_and_conclude(const Experiment& experiment, const RunOptions& options,
                      const RunFacts& facts) {
  check_exports(options.exports);
  const fs::path directory = output_directory(options, experiment.name);
  return tell(run_duel(experiment, options, directory, facts), options, directory);
}

Experiment experiment_with_twin(const fs::path& config, const RunOptions& options) {
  Overrides overrides = overrides_from(options);
  overrides.arms = {load_experiment(config, overrides).baseline};
  overrides.calibrate = true;
  return load_experiment(config, overrides);
}

std::map<std::string, std::string> site_values(const Experiment& experiment,
                                               const RunOptions& options) {
  return site_of(experiment, options).values;
}

nlohmann::json environment_of(const Experiment& experiment, const RunOptions& options) {
  return describe_environment(site_of(experiment, options).environment);
}

}  // namespace memduel::cli
