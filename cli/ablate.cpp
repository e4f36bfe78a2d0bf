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
  if (options.quiet) return;
  say(fmt::format("ablating {} against {}: {}, {}, {}\n", plan.candidate, ablation.config.baseline,
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
  const auto [verb, arguments] =
      add_verb(app, action, "ablate",
               "measure each switch of a variant: added alone, removed alone", ablate);
  verb->group(kCompareGroup);
  verb->footer(
      "Example:\n"
      "  memduel ablate configs/resnet-state.json --candidate minimal\n"
      "\n"
      "Each switch in which the candidate differs from the baseline gets two variants: the "
      "baseline with the switch, and the candidate without it. All are interleaved.");
  verb->add_option("CONFIG", arguments->config, "config of an experiment")->required();
  verb->add_option("--baseline", arguments->baseline,
                   "add switches to this variant (default: the baseline)")
      ->type_name("VARIANT")
      ->group(kWhatOptions);
  verb->add_option("--candidate", arguments->candidate,
                   "remove switches from this variant (default: the last)")
      ->type_name("VARIANT")
      ->group(kWhatOptions);
  RunOptions& options = arguments->options;
  add_arms(*verb, options);
  add_config_options(*verb, options);
  add_plan_options(*verb, options,
                   fmt::format("run each variant N times (default: {})", kAblationBlocks));
  add_gate_options(*verb, options.gate);
  add_no_defaults(*verb, options.gate);
  add_out(*verb, options);
  add_resume(*verb, options);
  add_quiet(*verb, options.quiet);
  add_exports(*verb, options.exports);
  add_exit_codes(*verb);
}

}  // namespace memduel::cli
