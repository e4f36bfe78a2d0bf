// memduel run CONFIG: runs an experiment, or a suite of them, and reports.

#include "base/error.h"
#include "cli/duel.h"
#include "cli/run_options.h"
#include "cli/run_suite.h"
#include "cli/slurm_run.h"
#include "cli/slurm_script.h"
#include "cli/verbs.h"
#include "experiment/config/suite.h"
#include "experiment/run/share.h"
#include "experiment/store/store.h"

namespace memduel::cli {
namespace {

struct RunArguments {
  std::string config;
  std::optional<std::string> blocks;
  std::string launcher = "local";
  SlurmOptions slurm;
  RunOptions options;
};

/// Every machine must come to the same plan by itself.
void check_share(const Share& share, const Experiment& experiment, bool drawn_seed) {
  if (!experiment.measure.repeats)
    throw Error(ExitCode::usage, kNoFixedBlocks, "--blocks",
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

/// What only one machine can do.
void refuse_on_slurm(const RunArguments& arguments) {
  const char* option = arguments.blocks                ? "--blocks"
                       : arguments.options.max_minutes ? "--max-minutes"
                                                       : nullptr;
  if (option)
    throw Error(ExitCode::usage, "does not go with --launcher slurm", option,
                arguments.options.max_minutes ? "give Slurm a limit: --time" : "leave it out");
  if (arguments.options.resume && !arguments.options.out)
    throw Error(ExitCode::usage, kNoDirectoryToResume, "--resume", "give the run's: --out DIR");
}

int run_on_slurm(const RunArguments& arguments) {
  refuse_on_slurm(arguments);
  RunOptions options = arguments.options;
  options.slurm = arguments.slurm;
  if (is_suite(arguments.config)) return run_suite(arguments.config, options);
  if (options.resume) options.seed = seed_on_slurm(*options.out);
  RunFacts facts;
  facts.config = arguments.config;
  return duel_and_conclude(load_experiment(arguments.config, overrides_from(options)), options,
                           facts);
}

int run(const RunArguments& arguments) {
  if (arguments.launcher == "slurm") return run_on_slurm(arguments);
  if (arguments.slurm != SlurmOptions{})
    throw Error(ExitCode::usage, "found options of Slurm with local, expected slurm", "--launcher",
                "--launcher slurm, or leave them out");
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

/// Options that sbatch has, too, go to it as they are.
void add_slurm_options(CLI::App& verb, RunArguments& arguments) {
  CLI::Option* launcher =
      verb.add_option("--launcher", arguments.launcher,
                      "slurm: shares of the run as a job array; needs --repeats. See docs/scale.md")
          ->check(CLI::IsMember({"local", "slurm"}))
          ->capture_default_str()
          ->type_name("local|slurm");
  SlurmOptions& slurm = arguments.slurm;
  verb.add_option("--shares", slurm.shares,
                  "in so many shares (default: one for each node, if there are superblocks enough)")
      ->check(CLI::Range(1, 100'000))
      ->needs(launcher)
      ->type_name("N");
  const auto pass_on = [&](const std::string& name, const char* type, const char* help) {
    const auto take = [&slurm, name](const std::string& value) {
      slurm.sbatch.push_back(name + "=" + value);
    };
    verb.add_option_function<std::string>(name, take, help)->needs(launcher)->type_name(type);
  };
  pass_on("--partition", "NAME", "where the tasks run, as sbatch takes it");
  pass_on("--nodes", "N", "of each task, for roles that name theirs");
  pass_on("--time", "TIME", "limit of each task");
  pass_on("--mem", "SIZE", "of each task");
  verb.add_option("--sbatch", slurm.sbatch,
                  "any other option of sbatch, e.g. --sbatch=--exclusive (repeatable)")
      ->needs(launcher)
      ->type_name("OPTION")
      ->allow_extra_args(false);
  verb.add_option("--retries", slurm.retries, "how often a task that fails is tried again")
      ->check(CLI::Range(0, 100))
      ->needs(launcher)
      ->capture_default_str()
      ->type_name("N");
  for (CLI::Option* option : verb.get_options([&](const CLI::Option* one) {
         return one == launcher || one->get_needs().contains(launcher);
       }))
    option->group("Slurm");
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
  add_slurm_options(*verb, *arguments);
}

}  // namespace memduel::cli
