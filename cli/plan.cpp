// memduel plan CONFIG --detect 2%: how many blocks and minutes a duel needs.
#include <fmt/format.h>

#include <cmath>

#include "analysis/questions/duel_plan.h"
#include "analysis/verdicts/default_gates.h"
#include "base/error.h"
#include "base/scratch_directory.h"
#include "base/text.h"
#include "cli/duel.h"
#include "cli/print.h"
#include "cli/slurm_script.h"
#include "cli/verbs.h"
#include "experiment/findings/calibration_file.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kProbeBlocks = 5;  // the fewest that show a noise

struct PlanArguments {
  std::string config;
  std::string detect = "2%";
  std::optional<int> slurm_shares;
  RunOptions options;
};

/// "2%" is 0.02.
double share_of(const std::string& text) {
  std::size_t used = 0;
  double percent = 0;
  try {
    percent = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || text.substr(used) != "%" || !(percent > 0) || percent > 1000)
    throw Error(ExitCode::usage, "found \"" + text + "\", expected a share such as 2%", "--detect");
  return percent / 100;
}

std::vector<Gate> gates_of(const Experiment& experiment) {
  const AnalysisSettings settings = settings_from_config(experiment.resolved);
  return settings.gates.empty() ? default_gates(experiment.facts) : settings.gates;
}

DuelPlan plan_from_probe(const PlanArguments& arguments, double change) {
  RunOptions options = arguments.options;
  options.repeats = kProbeBlocks;
  const Experiment twins = experiment_with_twin(arguments.config, options);
  const ScratchDirectory scratch(fs::temp_directory_path(), "memduel-plan");
  const fs::path directory = options.out ? fs::path(*options.out) : scratch.path() / "probe";
  const FinishedRun probe = run_duel(twins, options, directory).finished;
  return plan_duel(probe.run, settings_from_config(probe.run.config), change);
}

int plan(const PlanArguments& arguments) {
  if (arguments.slurm_shares) {
    const Experiment divided = load_experiment(arguments.config, overrides_from(arguments.options));
    const fs::path out = arguments.options.out.value_or("runs/" + file_name_for(divided.name));
    print(slurm_script(arguments.config, divided, arguments.options, *arguments.slurm_shares,
                       fs::absolute(out).lexically_normal()));
    return 0;
  }
  const double change = share_of(arguments.detect);
  const Experiment experiment =
      load_experiment(arguments.config, overrides_from(arguments.options));
  const auto path =
      calibration_path(experiment.resolved, environment_of(experiment, arguments.options));
  if (const auto calibration = path ? read_calibration(*path) : std::nullopt) {
    print_fitted("from the calibration " + path->string() + "\n");
    print_fitted(describe_plan(plan_duel(*calibration, gates_of(experiment), change,
                                         static_cast<int>(experiment.arms.size()))));
    return 0;
  }
  DuelPlan probed = plan_from_probe(arguments, change);
  // The probe's blocks hold two arms, the experiment's as many as it has.
  if (probed.block_seconds)
    *probed.block_seconds *= static_cast<double>(experiment.arms.size()) / 2;
  print_fitted(fmt::format("from a probe of {} blocks (memduel calibrate makes it sharper)\n",
                           kProbeBlocks));
  print_fitted(describe_plan(probed));
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "plan", "how many blocks and minutes it takes to find a change of a size", plan);
  verb->group("Compare");
  verb->footer(
      "Example: memduel plan configs/quickstart.json --detect 2%\n"
      "Uses the calibration on file, else a probe of five blocks of the baseline against itself.\n"
      "         memduel plan configs/quickstart.json --slurm 4 > quickstart.sh\n"
      "prints a batch script that measures it in four shares; see docs/scale.md.");
  verb->add_option("CONFIG", arguments->config, "an experiment")->required();
  verb->add_option("--detect", arguments->detect, "the change to find, as a share")
      ->type_name("P%")
      ->capture_default_str();
  verb->add_option("--slurm", arguments->slurm_shares,
                   "print a Slurm batch script that runs the experiment in so many shares, and "
                   "measure nothing")
      ->check(CLI::Range(1, 100'000))
      ->type_name("SHARES");
  add_run_options(*verb, arguments->options);
}

}  // namespace memduel::cli
