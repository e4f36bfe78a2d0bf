// memduel run CONFIG: runs an experiment, or a suite of them, and reports.

#include "cli/duel.h"
#include "cli/run_suite.h"
#include "cli/verbs.h"
#include "experiment/config/suite.h"

namespace memduel::cli {
namespace {

struct RunArguments {
  std::string config;
  RunOptions options;
};

int run(const RunArguments& arguments) {
  if (is_suite(arguments.config)) return run_suite(arguments.config, arguments.options);
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
  add_run_options(*verb, arguments->options);
}

}  // namespace memduel::cli
