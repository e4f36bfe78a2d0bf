// memduel run CONFIG: runs an experiment, or a suite of them, and reports.

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "cli/option_checks.h"
#include "cli/verbs.h"
#include "config/experiment.h"
#include "duel.h"
#include "gate_options.h"
#include "run/shares.h"
#include "run/store.h"
#include "run_options.h"
#include "run_suite.h"
#include "slurm.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/process.h"

namespace memduel::cli {
namespace {

struct RunArguments {
  std::string config;
  std::optional<std::string> blocks;
  std::string launcher = "local";
  SlurmOptions slurm;
  RunOptions options;
  const CLI::App* verb = nullptr;
};

constexpr CommandForm kExperiment{1, "run of one experiment"};
constexpr CommandForm kShare{2, "run of a shard"};
constexpr CommandForm kSuite{4, "run of a suite"};
constexpr CommandForm kExperimentOnSlurm{8, "run on Slurm"};
constexpr CommandForm kSuiteOnSlurm{16, "run of a suite on Slurm"};

constexpr unsigned kOnSlurm = kExperimentOnSlurm.bit | kSuiteOnSlurm.bit;
constexpr unsigned kHere = kExperiment.bit | kShare.bit | kSuite.bit;
constexpr unsigned kAllForms = kHere | kOnSlurm;
constexpr unsigned kWithOneResult = kExperiment.bit | kExperimentOnSlurm.bit;

constexpr const char* kIsLocal = "measures on this machine";
constexpr const char* kGiveSlurm = "give --launcher slurm, or omit it";

constexpr std::array kRunOptions = {
    OptionOfForms{"--shard", kShare.bit, "makes the shards by itself", "omit it"},
    OptionOfForms{"--out", kAllForms},
    OptionOfForms{"--resume", kAllForms},
    OptionOfForms{"--repeats", kAllForms},
    OptionOfForms{"--warmup", kAllForms},
    OptionOfForms{"--seed", kAllForms},
    OptionOfForms{"--max-minutes", kHere, "takes its limit from Slurm",
                  "give Slurm a limit: --time"},
    OptionOfForms{"--variants", kAllForms},
    OptionOfForms{"--set", kAllForms},
    OptionOfForms{"--data-dir", kAllForms},
    OptionOfForms{"--gate", kAllForms},
    OptionOfForms{"--gate-strict", kAllForms},
    OptionOfForms{"--no-default-gates", kAllForms},
    OptionOfForms{"--on-inconclusive", kAllForms & ~kShare.bit, "judges no gate",
                  "give it to memduel merge"},
    OptionOfForms{"--quiet", kAllForms},
    OptionOfForms{"--verbose", kWithOneResult, "prints no tables",
                  "memduel report DIR --format text prints them"},
    OptionOfForms{"--export", kWithOneResult, "has no result of its own",
                  "of shards: memduel merge --export; of a suite: memduel check DIR --export"},
    OptionOfForms{"--launcher", kAllForms},
    OptionOfForms{"--shards", kOnSlurm, kIsLocal, kGiveSlurm},
    OptionOfForms{"--partition", kOnSlurm, kIsLocal, kGiveSlurm},
    OptionOfForms{"--nodes", kOnSlurm, kIsLocal, kGiveSlurm},
    OptionOfForms{"--time", kOnSlurm, kIsLocal, kGiveSlurm},
    OptionOfForms{"--mem", kOnSlurm, kIsLocal, kGiveSlurm},
    OptionOfForms{"--sbatch", kOnSlurm, kIsLocal, kGiveSlurm},
    OptionOfForms{"--retries", kOnSlurm, kIsLocal, kGiveSlurm},
};

/// Every machine must come to the same plan by itself.
void check_share(const Share& share, const Experiment& experiment, bool drawn_seed) {
  if (!experiment.config.measure.repeats)
    throw Error(ExitCode::usage, kNoFixedBlocks, "--shard",
                "give the same --repeats N for every shard");
  superblocks_of(share, *experiment.config.measure.repeats);
  if (drawn_seed)
    throw Error(ExitCode::usage, "expected a seed, found none: each shard would draw its own",
                "--shard", "give the same --seed S for every shard");
}

int run_share(const RunArguments& arguments) {
  RunOptions options = arguments.options;
  options.share = share_from(*arguments.blocks, "--shard");
  const Overrides overrides = overrides_from(options);
  const Experiment experiment = load_experiment(arguments.config, overrides);
  const bool drawn =
      !options.seed && !options.resume && experiment.config.measure.seed == overrides.drawn_seed;
  check_share(*options.share, experiment, drawn);
  RunFacts facts;
  facts.environment[kShareKey] = to_text(*options.share);
  facts.inputs = {arguments.config};
  return duel_and_conclude(experiment, options, facts);
}

int run_one(const RunArguments& arguments) {
  RunOptions options = arguments.options;
  RunFacts facts;
  facts.inputs = {arguments.config};
  if (arguments.launcher == "slurm") {
    options.slurm = arguments.slurm;
    facts.config = arguments.config;
    if (options.resume && options.out) options.seed = seed_on_slurm(*options.out);
  }
  return duel_and_conclude(load_experiment(arguments.config, overrides_from(options)), options,
                           facts);
}

int run_all(const RunArguments& arguments) {
  RunOptions options = arguments.options;
  if (arguments.launcher == "slurm") options.slurm = arguments.slurm;
  return run_suite(arguments.config, options);
}

/// "memduel run app.py", as memray has it.
void refuse_program(const std::string& config) {
  const std::filesystem::path file = config;
  if (file.extension() != ".py" && (file.extension() == ".json" || !is_program(file))) return;
  const std::string command =
      quoted_command_line(file.extension() == ".py" ? std::vector<std::string>{"python3", config}
                                                    : std::vector<std::string>{config});
  throw Error(ExitCode::usage, "expected a config, found a program", config,
              fmt::format("did you mean memduel record -- {}, or memduel measure {}?", command,
                          quoted_command_line({command})));
}

CommandForm form_of(const RunArguments& arguments) {
  const bool suite = is_suite(arguments.config);
  if (arguments.launcher == "slurm") return suite ? kSuiteOnSlurm : kExperimentOnSlurm;
  if (suite && arguments.blocks)
    throw Error(ExitCode::usage, "expected one experiment, found a suite", arguments.config,
                "run the shards of each of its experiments");
  return suite ? kSuite : arguments.blocks ? kShare : kExperiment;
}

int run(const RunArguments& arguments) {
  refuse_program(arguments.config);
  const CommandForm form = form_of(arguments);
  refuse_options_of_other_forms(*arguments.verb, form, kRunOptions);
  if ((form.bit & (kSuite.bit | kSuiteOnSlurm.bit)) != 0) return run_all(arguments);
  return form.bit == kShare.bit ? run_share(arguments) : run_one(arguments);
}

/// Options that sbatch has, too, go to it as they are.
void add_slurm_options(CLI::App& verb, RunArguments& arguments) {
  constexpr const char* kSlurmGroup = "Slurm";
  verb.add_option("--launcher", arguments.launcher, "launch trials by local or slurm")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->group(kSlurmGroup)
      ->capture_default_str()
      ->type_name("NAME");
  SlurmOptions& slurm = arguments.slurm;
  verb.add_option("--shards", slurm.shares, "split the run into N shards (default: one a node)")
      ->check(CLI::Range(1, 100'000))
      ->group(kSlurmGroup)
      ->type_name("N");
  const auto pass_on = [&](const std::string& name, const char* type, const char* help) {
    const auto take = [&slurm, name](const std::string& value) {
      slurm.sbatch.push_back(name + "=" + value);
    };
    verb.add_option_function<std::string>(name, take, help)->group(kSlurmGroup)->type_name(type);
  };
  pass_on("--partition", "NAME", "request this partition");
  pass_on("--nodes", "N", "request N nodes for each shard");
  pass_on("--time", "TIME", "limit the time of each shard");
  pass_on("--mem", "SIZE", "request this memory for each shard");
  verb.add_option("--sbatch", slurm.sbatch, "pass another option to sbatch (repeatable)")
      ->group(kSlurmGroup)
      ->type_name("OPTION")
      ->allow_extra_args(false);
  verb.add_option("--retries", slurm.retries, "retry a failed shard up to N times")
      ->check(CLI::Range(0, 100))
      ->group(kSlurmGroup)
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "run", "run the experiment or the suite of a config", run);
  verb->group(kCompareGroup);
  verb->footer(
      "Examples:\n"
      "  memduel run configs/quickstart.json --out /tmp/quickstart\n"
      "  memduel run configs/quickstart.json --repeats 12 --gate default\n"
      "  memduel run configs/quickstart.json --resume --out /tmp/quickstart\n"
      "\n"
      "The variants are interleaved in random order. A suite runs its experiments one after "
      "the other, each in its own directory below --out, and writes index.html and "
      "suite.json; --resume also continues a suite. See docs/suites.md.\n"
      "Data sets are read from --data-dir, else from MEMDUEL_DATA_DIR, data/ and "
      "~/.cache/memduel. Slurm needs --repeats; see docs/scale.md.");
  verb->add_option("CONFIG", arguments->config, "config of an experiment or a suite")->required();
  RunOptions& options = arguments->options;
  add_arms(*verb, options);
  add_config_options(*verb, options);
  verb->add_option("--shard", arguments->blocks, "run shard I of N, for memduel merge")
      ->type_name("I/N")
      ->group(kWhatOptions);
  add_plan_options(*verb, options);
  add_gate_options(*verb, options.gate);
  add_no_defaults(*verb, options.gate);
  add_out(*verb, options);
  add_resume(*verb, options);
  add_report_options(*verb, options);
  add_slurm_options(*verb, *arguments);
  add_exit_codes(*verb);
  arguments->verb = verb;
}

}  // namespace memduel::cli
