#include "duel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "cli/print.h"
#include "cli/program.h"
#include "finished_run.h"
#include "fl.h"
#include "follow_up_commands.h"
#include "meters/meter_registry.h"
#include "model/run_directory.h"
#include "progress.h"
#include "reports/report_document.h"
#include "reports/report_model.h"
#include "run/conclusion.h"
#include "run/plan.h"
#include "run/run.h"
#include "run/store.h"
#include "slurm.h"
#include "state_runs.h"
#include "trial/marks.h"
#include "trial/processes.h"
#include "trial/supervisor.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"

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
  refuse_unused_data_dir(experiment, options);
  if (!has_data_sets(experiment)) return site;
  nlohmann::json request = site_request(experiment.config);
  if (options.data_dir) request["data_dir"] = fs::absolute(*options.data_dir).string();
  const nlohmann::json answer = ask_site(experiment.expansion->provider, request, ask_program);
  return {answer.at("environment"), answer.at("values")};
}

/// Throws Error(cannot_measure) for a meter of a GPU that is not here.
void expect_gpu_meters(const Experiment& experiment) {
  for (const std::string& name : *experiment.config.measure.meters) {
    if (name != "nvml" && name != "cuda") continue;
    const Availability here = meter_named(name).works_here();
    if (!here.works)
      throw Error(ExitCode::cannot_measure, fmt::format("meter {}: {}", name, here.why),
                  "measure.meters", "remove it if there is no GPU");
  }
}

nlohmann::json about(const Expansion& expansion) {
  nlohmann::json programs = expansion.programs;
  // Not in the config, which another build of it may answer in the same words.
  if (const auto program = find_fl(); programs.empty() && program)
    programs[*program] = sha256_hex_of_file(*program);
  return {{"name", expansion.catalog.name},
          {"version", expansion.catalog.version},
          {"programs", std::move(programs)}};
}

RunHeader header_for(const Experiment& experiment, const Site& site, const RunFacts& facts) {
  RunHeader header;
  header.config = experiment.config;
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
    print_fitted(fmt::format("shard {} is in {}\n{}\n", to_text(share),
                             escape_terminal(directory.string()),
                             escape_terminal_lines(advice_to_merge(share, directory))));
  return 0;
}

int tell(const DuelRun& run, const RunOptions& options, const fs::path& directory) {
  if (options.share) return tell_share(*options.share, options, directory);
  deliver(run.told, options.quiet);
  if (options.verbose && !options.quiet) print(profile_lines(directory));
  return run.finished.results.overall.exit_code;
}

/// What the run reads, by its config and by its arms' commands.
std::vector<fs::path> inputs_of(const Experiment& experiment, const RunFacts& facts) {
  std::vector<fs::path> inputs = facts.inputs;
  const auto add = [&](const std::string& directory, const std::string& word) {
    std::error_code unreadable;
    fs::path file = fs::path(directory) / word;
    if (fs::is_regular_file(file, unreadable)) inputs.push_back(std::move(file));
  };
  for (const Variant& arm : experiment.variants)
    for (const JobProcess& process : arm.processes)
      for (const std::string& word : process.argv) add(process.cwd, word);
  for (const JobTemplate& one : experiment.config.workload.job.templates)
    if (one.from) add(experiment.config.workload.job.cwd, *one.from);
  return inputs;
}

}  // namespace

fs::path current_directory() {
  fs::path here = fs::current_path();
  if (valid_utf8(here.string()) == here.string()) return here;
  throw Error(ExitCode::usage, "the name of the current directory is not UTF-8", here.string(),
              "rename it, or start memduel in another directory");
}

fs::path output_directory(const RunOptions& options, const std::string& name) {
  fs::path directory = options.out ? fs::path(*options.out) : make_run_directory(name);
  claim_run(directory);
  return directory;
}

bool has_data_sets(const Experiment& experiment) {
  return experiment.expansion && experiment.expansion->catalog.has_site;
}

void refuse_unused_data_dir(const Experiment& experiment, const RunOptions& options) {
  if (!options.data_dir || has_data_sets(experiment)) return;
  throw Error(ExitCode::usage, "the workload has no data sets", "--data-dir", "omit it");
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
      fmt::format("the limit of open files is {}, expected {} or more", limit.rlim_cur, kLeast), "",
      "raise the limit: ulimit -n 1024");
}

void refuse_small_stack() {
  constexpr rlim_t kLeast = 256 << 10;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  throw Error(ExitCode::cannot_measure,
              fmt::format("the limit of the stack is {}, expected {} or more",
                          format_bytes(static_cast<double>(limit.rlim_cur)),
                          format_bytes(static_cast<double>(kLeast))),
              "", "raise the limit: ulimit -s 8192");
}

}  // namespace

void end_what_was_left() {
  const Leftovers left = find_leftovers();
  if (left.empty()) return;
  say(fmt::format("memduel: ended the leftovers of a killed memduel: {}\n",
                  describe_leftovers(left)));
  end_leftovers(left);
}

namespace {

/// The gates of the options are in the run's config.
Demands demands_of(const RunOptions& options) {
  Demands demands;
  demands.on_inconclusive = options.gate.inconclusive();
  return demands;
}

DuelRun with_outputs(FinishedRun finished, const RunOptions& options, const fs::path& directory,
                     std::vector<fs::path> inputs) {
  Told told = write_outputs(directory, finished,
                            {options.verbose,
                             has_named_gates(finished.run.config),
                             options.exports,
                             {std::move(inputs), directory}});
  return {std::move(finished), std::move(told)};
}

DuelRun duel_on_slurm(const Experiment& experiment, const RunOptions& options,
                      const fs::path& directory, const RunFacts& facts) {
  refuse_unused_data_dir(experiment, options);
  submit_to_slurm(facts.config, experiment, options, directory);
  collect_from_slurm(options, directory, facts.label);
  return with_outputs(conclude(directory, demands_of(options)), options, directory,
                      inputs_of(experiment, facts));
}

/// That can decide; of a share its part of them.
int fewest_blocks(const RunHeader& header, const fs::path& directory,
                  const std::optional<Share>& share) {
  RunData run;
  run.config = header.config;
  run.job = header.job;
  const int fewest = fewest_deciding_blocks(run, settings_in(directory, run));
  return share ? (fewest + share->of - 1) / share->of : fewest;
}

/// Before the first trial, of a plan that can decide nothing.
void tell_too_few_trials(const Experiment& experiment, const std::string& label) {
  RunData run;
  run.config = experiment.config;
  run.job = experiment.facts;
  const auto note = planned_trials(run, settings_from_config(run.config)).too_few;
  if (!note) return;
  say(fitted_to(STDERR_FILENO, escape_terminal_lines(fmt::format("memduel: {}{}\n  {}\n", label,
                                                                 note->message, note->advice))));
}

/// A run that its first trials showed to be in vain.
struct UnmeasuredGate : Error {
  explicit UnmeasuredGate(const Error& error) : Error(error) {}
};

/// The trials of a run, into its store. `tell` gets what people want to know before the end: logs
/// that no pattern matches, and the sentence of the result when trials are to follow that only find
/// its cause.
void measure(const Experiment& experiment, const RunOptions& options, const fs::path& directory,
             const RunFacts& facts, DriverOptions driver,
             const std::function<void(const std::string& sentence)>& tell = {}) {
  const bool judges = judges_gates(experiment);
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
  driver.fewest_blocks = fewest_blocks(header, directory, options.share);
  // Gates that inform and do not decide are measured as if they did.
  const auto settings = [&](const RunData& so_far) {
    AnalysisSettings asked = settings_in(directory, so_far);
    asked.default_gates = true;
    if (std::ranges::all_of(asked.gates, &Gate::advisory))
      for (Gate& gate : asked.gates) gate.advisory = false;
    return asked;
  };
  if (facts.resumes)
    driver.resume_command = [&](std::optional<double> minutes) {
      const std::string out = facts.resumed_in.empty() ? directory.string() : facts.resumed_in;
      return resume_command(given_words(), out, minutes);
    };
  std::set<std::string> told;
  driver.check_first_trials = [&](const RunData& first_trials) {
    for (const Note& note : first_trials.warnings)
      if (tell && is_of_unmatched_log(note) && told.insert(note.code + note.message).second)
        tell(fmt::format("warning: {}\n  {}", note.message, note.advice));
    try {
      refuse_unmeasured_gates(first_trials, settings(first_trials));
    } catch (const Error& error) {
      throw UnmeasuredGate(error);
    }
  };
  driver.check_warmup = [&](const RunData& warmups) {
    if (judges) refuse_growth_in_few_rounds(warmups, settings(warmups));
  };
  driver.should_stop = [&](const RunData& so_far) { return may_end(so_far, settings(so_far)); };
  // A config that speaks of profiles has decided it.
  if (!experiment.config.profile)
    driver.arms_to_profile = [&](const RunData& so_far) {
      const Results results = analyse(so_far, settings(so_far));
      std::vector<std::string> arms = arms_to_explain(results);
      const bool are_profiled = std::ranges::all_of(arms, [&](const std::string& arm) {
        return std::ranges::any_of(so_far.trials, [&](const TrialData& trial) {
          return trial.arm == arm && trial.kind == TrialKind::profile;
        });
      });
      if (tell && !are_profiled && !results.is_alone()) {
        const Results shown = analyse(so_far, settings_in(directory, so_far, demands_of(options)));
        tell(document_of(build_report_model(shown, so_far)).sentence.plain() +
             " One more trial of each follows, to find the cause.");
      }
      return arms;
    };
  const auto run_one = [&supervision](const TrialPlan& plan) {
    return run_trial(plan, supervision);
  };
  run_experiment(experiment, store, run_one, driver);
}

void measure_and_show(const Experiment& experiment, const RunOptions& options,
                      const fs::path& directory, const RunFacts& facts) {
  RunProgress shown(options.quiet,
                    {facts.label, facts.seconds_after, experiment.facts.roles.size() > 1});
  DriverOptions driver;
  driver.progress = [&](const Progress& progress) { shown.show(progress); };
  measure(experiment, options, directory, facts, std::move(driver),
          [&](const std::string& sentence) {
            shown.print(fitted_to(STDERR_FILENO, facts.label + escape_terminal_lines(sentence)));
          });
}

}  // namespace

DuelRun run_duel(const Experiment& experiment, const RunOptions& options, const fs::path& directory,
                 const RunFacts& facts) {
  refuse_bad_gates(experiment);
  if (!options.quiet) tell_replaced_gates(experiment.replaced_gates, facts.label);
  if (!options.quiet && !options.resume) tell_too_few_trials(experiment, facts.label);
  if (options.slurm) return duel_on_slurm(experiment, options, directory, facts);
  try {
    measure_and_show(experiment, options, directory, facts);
  } catch (const UnmeasuredGate&) {
    if (!options.resume) discard_run(directory);
    throw;
  }
  return with_outputs(conclude(directory, demands_of(options)), options, directory,
                      inputs_of(experiment, facts));
}

Forecast forecast_duel(const Experiment& experiment, const RunOptions& options,
                       const fs::path& directory) {
  Forecast forecast;
  refuse_bad_gates(experiment);
  if (!options.quiet && !options.resume)
    tell_too_few_trials(experiment, experiment.config.name + ", ");
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
  check_exports(options.exports, {inputs_of(experiment, facts), options.out});
  refuse_undecided_exit(experiment.config, options.gate);
  const fs::path directory = output_directory(options, experiment.config.name);
  return tell(run_duel(experiment, options, directory, facts), options, directory);
}

Experiment experiment_with_twin(const Experiment& experiment, std::optional<int> repeats) {
  Document alone = experiment.config;
  alone.variants = {*alone.variant(alone.baseline)};
  alone.ablation.reset();
  if (repeats) alone.measure.repeats = repeats;
  Overrides overrides;
  overrides.calibrate = true;
  return make_experiment(alone, alone.name, "/", overrides);
}

std::map<std::string, std::string> site_values(const Experiment& experiment,
                                               const RunOptions& options) {
  return site_of(experiment, options).values;
}

nlohmann::json environment_of(const Experiment& experiment, const RunOptions& options) {
  return describe_environment(site_of(experiment, options).environment);
}

}  // namespace memduel::cli
