// memduel plan CONFIG --detect 2%: how many blocks and minutes a duel needs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "cli/option_checks.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "duel.h"
#include "run/conclusion.h"
#include "slurm.h"
#include "state_runs.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kProbeBlocks = 5;  // the fewest that show a noise

struct PlanArguments {
  std::string config;
  std::string detect = "2%";
  std::optional<int> slurm_shares;
  RunOptions options;
  const CLI::App* verb = nullptr;
};

constexpr CommandForm kMinutes{1, "plan of trials and minutes"};
constexpr CommandForm kScript{2, "plan of a batch script (--slurm)"};
constexpr unsigned kBoth = kMinutes.bit | kScript.bit;

constexpr const char* kMeasuresNothing = "measures nothing";

constexpr std::array kPlanOptions = {
    OptionOfForms{"--detect", kMinutes.bit, "plans no change to find", "omit it"},
    OptionOfForms{"--slurm", kBoth},
    OptionOfForms{"--out", kBoth},
    OptionOfForms{"--repeats", kBoth},
    OptionOfForms{"--warmup", kBoth},
    OptionOfForms{"--seed", kBoth},
    OptionOfForms{"--max-minutes", kMinutes.bit, kMeasuresNothing, "give sbatch a limit: --time"},
    OptionOfForms{"--variants", kBoth},
    OptionOfForms{"--set", kBoth},
    OptionOfForms{"--data-dir", kBoth},
    OptionOfForms{"--gate", kBoth},
    OptionOfForms{"--gate-strict", kScript.bit, "judges no gate", "omit it"},
    OptionOfForms{"--no-default-gates", kScript.bit, "judges no gate", "omit it"},
};

constexpr double kLeastDetected = 1e-6;

/// What only a probe honours: where one is given, a calibration on file does not stand in for it.
constexpr std::array kOptionsOfProbe = {"--out", "--repeats", "--warmup", "--seed",
                                        "--max-minutes"};

std::vector<Gate> gates_of(const Experiment& experiment) {
  const AnalysisSettings settings = settings_from_config(experiment.config);
  return settings.gates.empty() ? default_gates(experiment.facts) : settings.gates;
}

/// Those of which every arm has a trial that counts.
int whole_blocks(const RunData& run) {
  std::map<int, std::set<std::string>> arms;  // by block
  for (const TrialData& trial : run.trials)
    if (trial.counts()) arms[trial.block].insert(trial.arm);
  return static_cast<int>(
      std::ranges::count_if(arms, [](const auto& block) { return block.second.size() == 2; }));
}

/// A gate of a candidate each.
int comparisons_of(const Experiment& experiment) {
  RunData run;
  run.config = experiment.config;
  run.job = experiment.facts;
  return gates_that_share(run, settings_from_config(run.config));
}

DuelPlan plan_from_probe(const PlanArguments& arguments, const Experiment& experiment,
                         double change) {
  RunOptions options = arguments.options;
  if (!options.repeats) options.repeats = kProbeBlocks;
  const Experiment twins = experiment_with_twin(experiment, options.repeats);
  const ScratchDirectory scratch(fs::temp_directory_path(), "memduel-plan");
  const fs::path directory = options.out ? fs::path(*options.out) : scratch.path() / "probe";
  RunFacts facts;
  facts.resumes = false;
  const FinishedRun probe = run_duel(twins, options, directory, facts).finished;
  const int blocks = whole_blocks(probe.run);
  if (blocks < kProbeBlocks)
    throw Error(ExitCode::cannot_measure,
                fmt::format("the probe ended after {} of {} trials each, and a plan needs {}",
                            blocks, *options.repeats, kProbeBlocks),
                "--max-minutes", "give it more time");
  return plan_duel(probe.run, settings_from_config(probe.run.config), change,
                   comparisons_of(experiment));
}

int plan(const PlanArguments& arguments) {
  refuse_options_of_other_forms(*arguments.verb, arguments.slurm_shares ? kScript : kMinutes,
                                kPlanOptions);
  if (arguments.slurm_shares) {
    const Experiment divided = load_experiment(arguments.config, overrides_from(arguments.options));
    refuse_unused_data_dir(divided, arguments.options);
    const fs::path out = arguments.options.out
                             ? fs::path(*arguments.options.out)
                             : runs_directory() / file_name_for(divided.config.name);
    print(slurm_script(arguments.config, divided, arguments.options, *arguments.slurm_shares,
                       fs::absolute(out).lexically_normal()));
    return 0;
  }
  const double change = share_of(arguments.detect, "--detect", "2%", kLeastDetected);
  const int repeats = arguments.options.repeats.value_or(kProbeBlocks);
  if (repeats < kProbeBlocks)
    throw Error(
        ExitCode::usage,
        fmt::format("expected a probe of at least {} trials each, found {}", kProbeBlocks, repeats),
        "--repeats");
  const Experiment experiment =
      load_experiment(arguments.config, overrides_from(arguments.options));
  refuse_bad_gates(experiment);
  const auto path =
      calibration_path(experiment.config, environment_of(experiment, arguments.options));
  const bool probes = std::ranges::any_of(
      kOptionsOfProbe, [&](const char* option) { return arguments.verb->count(option) > 0; });
  if (const auto calibration = path && !probes ? read_calibration(*path) : std::nullopt) {
    print_fitted("from the calibration " + path->string() + "\n");
    print_fitted(describe_plan(plan_duel(*calibration, gates_of(experiment), change,
                                         static_cast<int>(experiment.variants.size()))));
    return 0;
  }
  DuelPlan probed = plan_from_probe(arguments, experiment, change);
  // The probe's blocks hold two arms, the experiment's as many as it has.
  if (probed.block_seconds)
    *probed.block_seconds *= static_cast<double>(experiment.variants.size()) / 2;
  print_fitted(fmt::format(
      "from a probe of {} trials each (memduel calibrate gives a more precise plan)\n", repeats));
  print_fitted(describe_plan(probed));
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "plan", "estimate the trials and minutes that a comparison needs", plan);
  verb->group(kCompareGroup);
  verb->footer(
      "Examples:\n"
      "  memduel plan configs/quickstart.json --detect 2%\n"
      "  memduel plan configs/quickstart.json --slurm 4 > quickstart.sh\n"
      "\n"
      "The estimate is that of memduel calibrate if there is one, else of a probe: five trials "
      "of each of two copies of the baseline. --out, --repeats, --warmup, --seed and "
      "--max-minutes always start a probe. For --slurm see docs/scale.md.");
  verb->add_option("CONFIG", arguments->config, "config of an experiment")->required();
  verb->add_option("--detect", arguments->detect, "plan to detect a change of this size")
      ->type_name("P%")
      ->capture_default_str()
      ->group("Plan");
  verb->add_option("--slurm", arguments->slurm_shares, "print a batch script for N shards instead")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->group("Plan");
  RunOptions& options = arguments->options;
  add_arms(*verb, options);
  add_config_options(*verb, options);
  add_plan_options(*verb, options, "run each variant of the probe N times (default: 5)");
  add_gates(*verb, options.gate);
  add_strict(*verb, options.gate);
  add_no_defaults(*verb, options.gate);
  add_out(*verb, options);
  add_gate_help(*verb);
  arguments->verb = verb;
}

}  // namespace memduel::cli
