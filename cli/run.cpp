// memduel run CONFIG: runs an experiment and reports.
#include <memory>

#include "cli/duel.h"
#include "cli/verbs.h"

namespace memduel::cli {
namespace {

struct RunArguments {
  std::string config;
  RunOptions options;
};

int run(const RunArguments& arguments) {
  const Experiment experiment =
      load_experiment(arguments.config, overrides_from(arguments.options));
  return duel_and_conclude(experiment, arguments.options);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb =
      app.add_subcommand("run", "run an experiment: every arm in random order, block by block");
  verb->group("Compare");
  verb->footer("Example: memduel run configs/quickstart.json --out /tmp/quickstart");
  verb->add_option("CONFIG", arguments->config, "an experiment, see configs/")->required();
  add_run_options(*verb, arguments->options);
  verb->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace memduel::cli
