// memduel need: the smallest memory limit under which a program still runs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/option_checks.h"
#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "duel.h"
#include "limit_lines.h"
#include "meters/cgroup.h"
#include "model/metric_catalogue.h"
#include "model/run_directory.h"
#include "run/plan.h"
#include "run/run.h"
#include "stats/estimates.h"
#include "trial/supervisor.h"
#include "util/bytes.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"
#include "verdict/questions.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSearchOptions = "Memory limit";
constexpr int kUnlimitedRuns = 6;  // the first warms files and caches

struct NeedArguments {
  std::vector<std::string> words;  ///< a config, or a program and its arguments
  std::string arm;
  double slowdown_percent = 5;
  int confirmations = 20;
  std::string limit = "auto";
  std::string headroom = "15%";
  RunOptions options;  ///< --set, --data-dir and --quiet
};

bool is_config(const NeedArguments& arguments) {
  const fs::path first = arguments.words.front();
  return arguments.words.size() == 1 && first.extension() == ".json" && is_there(first);
}

/// An experiment of one arm, which is never compared.
Experiment experiment_for(const NeedArguments& arguments) {
  Overrides overrides = overrides_from(arguments.options);
  // The recorder's counters would need memory of their own.
  overrides.set.emplace_back(R"(measure.meters=["procfs"])");
  if (is_config(arguments)) return load_experiment(arguments.words.front(), overrides);
  if (!arguments.arm.empty())
    throw Error(ExitCode::usage, "a command has no variants", "--variant", "give it with a config");
  overrides.calibrate = true;  // which allows a single arm
  Document document = document_of_program("need", arguments.words, current_directory().string());
  document.variants.emplace_back().name = "a";
  document.baseline = "a";
  return make_experiment(document, "need", current_directory(), overrides);
}

std::size_t arm_of(const Experiment& experiment, const std::string& name) {
  const std::string& wanted = name.empty() ? experiment.config.baseline : name;
  const auto found = std::ranges::find(experiment.variants, wanted, &Variant::name);
  if (found != experiment.variants.end())
    return static_cast<std::size_t>(found - experiment.variants.begin());
  throw Error(ExitCode::usage, fmt::format("found no variant \"{}\"", wanted), "--variant");
}

bool groups_can_be_limited() {
  const TrialCgroup group = create_cgroup(kTrialCgroupPrefix + fmt::format("need-{}", getpid()));
  const bool can = limit_cgroup(group, std::int64_t{1} << 30) == 0;
  remove_cgroup(group);
  return can;
}

/// Runs of one arm, each in fresh processes, with and without a limit.
class Runs {
 public:
  Runs(Experiment experiment, const NeedArguments& arguments)
      : experiment_(std::move(experiment)),
        arm_(arm_of(experiment_, arguments.arm)),
        subject_(is_config(arguments) ? experiment_.variants[arm_].name
                                      : quoted_command_line(arguments.words)),
        quiet_(arguments.options.quiet),
        of_each_process_(arguments.limit == "process" ||
                         (arguments.limit == "auto" && !groups_can_be_limited())),
        scratch_(fs::temp_directory_path(), "memduel-need") {
    supervision_.launcher = find_launcher();
    supervision_.stop = &listen_for_signals();
    site_.values = site_values(experiment_, arguments.options);
    site_.trials_dir = scratch_.path() / kTrialsFolder;
    site_.log_dir = scratch_.path() / kLogsFolder;
    site_.environment = current_environment();
    fs::create_directories(site_.log_dir);
  }

  /// Throws Error(cannot_measure) where the program fails without a limit.
  std::vector<double> unlimited() {
    std::vector<double> seconds;
    for (int i = 0; i < kUnlimitedRuns; ++i) {
      const LimitedRun one = run(std::nullopt);
      if (one.failed)
        throw Error(ExitCode::cannot_measure, "fails without a limit: " + one.why, subject_);
      if (i > 0) seconds.push_back(one.seconds);
    }
    return seconds;
  }

  LimitedRun run(std::optional<std::int64_t> limit) {
    TrialSlot slot;
    slot.id = ++count_;
    slot.block = static_cast<int>(count_);
    slot.arm = arm_;
    PlannedTrial planned = plan_trial(experiment_, slot, site_);
    if (limit) planned.plan.memory_limit = {*limit, of_each_process_};
    const TrialRun trial = run_whole_trial(
        planned, [&](const TrialPlan& plan) { return run_trial(plan, supervision_); },
        scratch_.path());
    if (trial.trial.harness_fault)
      throw Error(ExitCode::cannot_measure, trial.trial.failure, "memduel need");
    if (!limit) note_peaks(trial.trial);
    std::error_code gone;
    fs::remove_all(planned.plan.trial_dir, gone);
    return outcome_of(trial.trial, limit);
  }

  /// The arm of a config, or the command.
  [[nodiscard]] const std::string& subject() const { return subject_; }
  /// Without a limit, the most of all runs, in bytes. What other groups brought into the page cache
  /// is resident and not charged.
  [[nodiscard]] double charged_bytes() const { return charged_; }
  [[nodiscard]] double resident_bytes() const { return resident_; }
  [[nodiscard]] bool of_each_process() const { return of_each_process_; }

 private:
  void note_peaks(const TrialData& trial) {
    charged_ = std::max(charged_, trial.value(kTree, kPeakCgroup).value_or(0));
    resident_ = std::max(resident_, trial.value(kTree, kPeakRss).value_or(0));
  }

  LimitedRun outcome_of(const TrialData& trial, std::optional<std::int64_t> limit) const {
    LimitedRun one;
    one.seconds = trial.seconds();
    one.failed = trial.status != TrialStatus::ok;
    one.why = trial.status == TrialStatus::killed_for_memory
                  ? "killed for memory"
                  : trial.failure.substr(0, trial.failure.find('\n'));
    const std::string limited =
        limit ? "limit " + format_bytes(static_cast<double>(*limit)) : "no limit";
    if (!quiet_)
      say(fmt::format("{}: {}{}\n", limited, format_seconds(one.seconds),
                      one.failed ? ", " + one.why : ""));
    return one;
  }

  Experiment experiment_;
  std::size_t arm_;
  std::string subject_;
  bool quiet_;
  bool of_each_process_;
  ScratchDirectory scratch_;
  SupervisorOptions supervision_;
  PlanSite site_;
  std::int64_t count_ = 0;
  double charged_ = 0;
  double resident_ = 0;
};

std::string signed_percent(double share) {
  return fmt::format("{}{:.1f}%", share < 0 ? "−" : "+", 100 * std::abs(share));
}

std::string describe(const Need& need, const Runs& runs, double headroom) {
  std::string text = fmt::format("{}: smallest memory limit {}\n", runs.subject(),
                                 format_bytes(static_cast<double>(need.bytes)));
  if (need.too_little > 0)
    text += fmt::format("  too small: {} ({})\n",
                        format_bytes(static_cast<double>(need.too_little)), need.why);
  text += fmt::format("  failures at this limit: {} of {} (failure rate up to {:.0f}%, 95% CI)\n",
                      need.failed, format_count(static_cast<std::size_t>(need.runs), "trial"),
                      100 * need.failure_rate.high);
  text += fmt::format("  time at this limit: {} vs. no limit (95% CI {})\n",
                      signed_percent(need.slowdown),
                      format_interval(signed_percent(need.slowdown_interval.low),
                                      signed_percent(need.slowdown_interval.high)));
  if (!runs.of_each_process())
    return text +
           fmt::format("  without a limit: peak RSS {}, peak cgroup memory {} (with page cache)\n",
                       format_bytes(runs.resident_bytes()), format_bytes(runs.charged_bytes())) +
           limit_lines(static_cast<double>(need.bytes), headroom);
  // What limits all processes follows from their peak RSS: RLIMIT_DATA is private memory of one.
  return text +
         fmt::format(
             "  the limit applies to the private memory of each process (RLIMIT_DATA)\n"
             "  shell: ulimit -d {:.0f}\n"
             "without a limit: peak RSS of all processes {}\n",
             std::ceil(static_cast<double>(need.bytes) / kKiB),
             format_bytes(runs.resident_bytes())) +
         limit_lines(runs.resident_bytes(), headroom);
}

int need(const NeedArguments& arguments) {
  const double headroom = share_of(arguments.headroom, "--headroom", "15%", 0);
  Runs runs(experiment_for(arguments), arguments);
  const std::vector<double> unlimited = runs.unlimited();
  NeedOptions options;
  options.most_slowdown = arguments.slowdown_percent / 100;
  options.confirmations = arguments.confirmations;
  options.may_slow_down = !runs.of_each_process();
  const double most = std::max(runs.charged_bytes(), runs.resident_bytes());
  const Need found = find_need(unlimited, static_cast<std::int64_t>(most), options,
                               [&](std::int64_t limit) { return runs.run(limit); });
  print_fitted(describe(found, runs, headroom));
  return 0;
}

}  // namespace

void add_need(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "need", "find the smallest memory limit that a program runs in", need);
  verb->group(kCompareGroup);
  set_usage(*verb, {"[OPTIONS] -- PROGRAM [ARG]...", "[OPTIONS] CONFIG"});
  verb->footer(
      "Examples:\n"
      "  memduel need -- python3 train.py\n"
      "  memduel need configs/quickstart.json --variant optimized\n"
      "\n"
      "LIMIT: group limits all processes together with a cgroup without swap; process limits "
      "the private memory of each process (RLIMIT_DATA); auto is group if memduel may create "
      "cgroups here, else process. See docs/scale.md.");
  verb->add_option("WHAT", arguments->words, "program to run, or config")->required()->group("");
  verb->add_option("--variant", arguments->arm, "run this variant (default: the baseline)")
      ->type_name("NAME")
      ->group(kWhatOptions);
  verb->add_option("--set", arguments->options.set, "override a key of the config (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->group(kWhatOptions);
  verb->add_option("--data-dir", arguments->options.data_dir,
                   "find data sets in DIR (default: MEMDUEL_DATA_DIR)")
      ->type_name("DIR")
      ->group(kWhatOptions);
  verb->add_option("--limit", arguments->limit, "limit by auto, group or process")
      ->check(CLI::IsMember({"auto", "group", "process"}))
      ->type_name("LIMIT")
      ->capture_default_str()
      ->group(kSearchOptions);
  verb->add_option("--slowdown", arguments->slowdown_percent,
                   "allow P percent more time than without a limit")
      ->check(finite_range(0.1, 1000))
      ->type_name("P")
      ->capture_default_str()
      ->group(kSearchOptions);
  verb->add_option("--confirm", arguments->confirmations, "confirm the limit by N trials")
      ->check(finite_range(5, 10'000))
      ->type_name("N")
      ->capture_default_str()
      ->group(kSearchOptions);
  verb->add_option("--headroom", arguments->headroom, "add P% to the limits to copy")
      ->type_name("P%")
      ->capture_default_str()
      ->group(kOutputOptions);
  verb->add_flag("--quiet", arguments->options.quiet, "print no line for each trial")
      ->group(kOutputOptions);
}

}  // namespace memduel::cli
