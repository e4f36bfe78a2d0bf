// memduel ablate CONFIG: takes a candidate apart, switch by switch, and reports as run does.
#include <fmt/format.h>

#include <algorithm>

#include "cli/duel.h"
#include "cli/progress_bar.h"
#include "cli/verbs.h"
#include "experiment/config/ablation_arms.h"
#include "experiment/run/driver.h"

namespace memduel::cli {
namespace {

struct AblateArguments {
  std::string config;
  std::optional<std::string> baseline;
  std::optional<std::string> candidate;
  RunOptions options;
};

/// The config's own number of blocks is meant for its few arms; only a number from the command line
/// counts here.
int repeats_of(const Experiment& experiment, const RunOptions& options) {
  const bool set = std::ranges::any_of(
      options.set, [](const std::string& one) { return one.starts_with("measure.repeats="); });
  if (set) return experiment.measure.repeats.value_or(kAblationBlocks);
  return options.repeats.value_or(kAblationBlocks);
}

void announce(const Experiment& ablation, const RunOptions& options) {
  const nlohmann::json& section = ablation.resolved.at("ablation");
  const std::size_t blocks = static_cast<std::size_t>(planned_blocks(ablation.measure)) + 1;
  ProgressBar(options.quiet)
      .say(fmt::format("ablating {} against {}: {} switches, {} arms, {} trials",
                       section.at("candidate").get<std::string>(), ablation.baseline,
                       section.at("switches").size(), ablation.arms.size(),
                       ablation.arms.size() * blocks));
}

int ablate(const AblateArguments& arguments) {
  const Experiment experiment =
      load_experiment(arguments.config, overrides_from(arguments.options));
  const AblationChoice choice{arguments.baseline, arguments.candidate,
                              repeats_of(experiment, arguments.options),
                              config_of_resumed(arguments.options)};
  const Experiment ablation = ablation_experiment(experiment, choice);
  announce(ablation, arguments.options);
  RunOptions options = arguments.options;
  options.verbose = true;  // its tables are the answer
  return duel_and_conclude(ablation, options);
}

}  // namespace

void add_ablate(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "ablate",
      "which switch matters: each added alone to one arm, and left out of the other", ablate);
  verb->group("Replay");
  verb->footer(fmt::format(
      "Every switch in which the two arms differ gets two arms of its own, measured in the same "
      "blocks. Without --repeats there are {} blocks.\n"
      "Example: memduel ablate configs/resnet-state.json --candidate minimal",
      kAblationBlocks));
  verb->add_option("CONFIG", arguments->config, "an experiment, see configs/")->required();
  verb->add_option("--baseline", arguments->baseline,
                   "the arm to which switches are added (default: the config's baseline)")
      ->type_name("ARM");
  verb->add_option("--candidate", arguments->candidate,
                   "the arm that is taken apart (default: the last one)")
      ->type_name("ARM");
  add_run_options(*verb, arguments->options);
}

}  // namespace memduel::cli
