// memduel ablate CONFIG: takes a candidate apart, switch by switch, and reports as run does.
#include <fmt/format.h>

#include <algorithm>

#include "cli/print.h"
#include "cli/verbs.h"
#include "config/ablation.h"
#include "duel.h"
#include "gate_options.h"
#include "run/run.h"
#include "util/text.h"

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
  if (has_assignment(options.set, "measure.repeats"))
    return experiment.config.measure.repeats.value_or(kAblationBlocks);
  return options.repeats.value_or(kAblationBlocks);
}

void announce(const Experiment& ablation, const RunOptions& options) {
  const AblationPlan& plan = *ablation.config.ablation;
  const auto times = static_cast<std::size_t>(planned_blocks(ablation.config.measure)) +
                     static_cast<std::size_t>(ablation.config.measure.warmups);
  ProgressBar(options.quiet)
      .say(fmt::format("ablating {} against {}: {}, {}, {}", plan.candidate,
                       ablation.config.baseline,
                       format_count(plan.switches.size(), "switch", "switches"),
                       format_count(ablation.variants.size(), "variant"),
                       format_count(ablation.variants.size() * times, "trial")));
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
  RunFacts facts;
  facts.inputs = {arguments.config};
  return duel_and_conclude(ablation, options, facts);
}

}  // namespace

void add_ablate(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "ablate",
      "which switch matters: each added alone to one variant, and left out of the other", ablate);
  verb->group("Replay");
  verb->footer(
      fmt::format("Every switch in which the two variants differ gets two variants of its own, "
                  "measured in the same "
                  "blocks. Without --repeats there are {} blocks.\n"
                  "Example: memduel ablate configs/resnet-state.json --candidate minimal",
                  kAblationBlocks));
  verb->add_option("CONFIG", arguments->config, "an experiment, see configs/")->required();
  verb->add_option("--baseline", arguments->baseline,
                   "the variant to which switches are added (default: the config's baseline)")
      ->type_name("VARIANT");
  verb->add_option("--candidate", arguments->candidate,
                   "the variant that is taken apart (default: the last one)")
      ->type_name("VARIANT");
  RunOptions& options = arguments->options;
  add_out(*verb, options);
  add_resume(*verb, options);
  add_plan_options(*verb, options,
                   fmt::format("a fixed number of blocks (default: {})", kAblationBlocks));
  add_arms(*verb, options);
  add_config_options(*verb, options);
  add_gate_options(*verb, options.gate);
  add_no_defaults(*verb, options.gate);
  add_quiet(*verb, options.quiet);
  add_exports(*verb, options.exports);
  add_exit_codes(*verb);
}

}  // namespace memduel::cli
