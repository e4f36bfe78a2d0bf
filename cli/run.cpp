// memduel run CONFIG: runs an experiment, or a suite of them, and reports.

#include "base/error.h"
#include "cli/duel.h"
#include "cli/run_suite.h"
#include "cli/verbs.h"
#include "experiment/config/suite.h"
#include "experiment/run/share.h"
#include "experiment/store/store.h"

namespace memduel::cli {
namespace {

struct RunArguments {
  std::string config;
  std::optional<std::string> blocks;
  RunOptions options;
};

/// Every machine must come to the same plan by itself.
void check_share(const Share& share, const Experiment& experiment, bool drawn_seed) {
  if (!experiment.measure.repeats)
    throw Error(ExitCode::usage, "found no fixed number of blocks to divide", "--blocks",
                "give the same --repeats N for every share");
  superblocks_of(share, *experiment.measure.repeats);
  if (drawn_seed)
    throw Error(ExitCode::usage, "found no seed, and every share would draw its own", "--blocks",
                "give the same --seed S for every share");
}

int run_share(const RunArguments& arguments) {
  RunOptions options = arguments.options;
  options.share = share_from(*arguments.blocks, "--blocks");
  const Overrides overrides = overrides_from(options);
  const Experiment experiment = load_experiment(arguments.config, overrides);
  const bool drawn =
      !options.seed && !options.resume && experiment.measure.seed == overrides.drawn_seed;
  check_share(*options.share, experiment, drawn);
  RunFacts facts;
  facts.environment[kShareKey] = to_text(*options.share);
  return duel_and_conclude(experiment, options, facts);
}

int run(const RunArguments& arguments) {
  const bool suite = is_suite(arguments.config);
  if (suite && arguments.blocks)
    throw Error(ExitCode::usage, "found a suite, expected one experiment", arguments.config,
                "run the shares of each of its experiments");
  if (suite) return run_suite(arguments.config, arguments.options);
  if (arguments.blocks) return run_share(arguments);
  const Experiment experiment =
      load_experiment(arguments.config, overrides_from(arguments.options));
  return duel_and_conclude(experiment, arguments.options);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "run", "run an experiment: every arm in random order, block by block", run);
  verb->group("Compare");
  verb->footer(
      "Example: memduel run configs/quickstart.json --out /tmp/quickstart\n"
      "A suite runs one experiment after the other, each in a directory of its own, and\n"
      "leaves index.html and suite.json. It goes on past one that fails; --resume goes\n"
      "on where it was ended. See docs/suites.md.");
  verb->add_option("CONFIG", arguments->config,
                   "an experiment, or a suite of them: see configs/ and "
                   "configs/suites/")
      ->required();
  verb->add_option("--blocks", arguments->blocks,
                   "only the I-th of N shares of a fixed plan, which memduel merge puts together: "
                   "needs --repeats and --seed")
      ->type_name("I/N");
  add_run_options(*verb, arguments->options);
}

}  // namespace memduel::cli
