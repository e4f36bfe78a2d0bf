// memduel merge DIR… --out DIR: the shares of a run as the run.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/verbs.h"
#include "finished_run.h"
#include "gate_options.h"
#include "run/shares.h"
#include "run/store.h"
#include "run_options.h"
#include "state_runs.h"

namespace memduel::cli {
namespace {

struct MergeArguments {
  std::vector<std::filesystem::path> directories;
  std::filesystem::path out;
  GateOptions gate;
  bool verbose = false;
  std::vector<Export> exports;
};

/// The shares have the gates of one config. merge_shares reports what is no share.
void refuse_gate_options(const MergeArguments& arguments) {
  const std::filesystem::path& first = arguments.directories.front();
  if (has_run(first)) refuse_undecided_exit(read_config(first), arguments.gate);
}

int merge(const MergeArguments& arguments) {
  const Kept kept{arguments.directories, arguments.out};
  check_exports(arguments.exports, kept);
  refuse_gate_options(arguments);
  merge_shares(arguments.directories, arguments.out);
  Demands demands;
  demands.on_inconclusive = arguments.gate.inconclusive();
  const FinishedRun finished = conclude(arguments.out, demands);
  const Ending ending{arguments.verbose, has_named_gates(finished.run.config), arguments.exports,
                      kept};
  deliver(write_outputs(arguments.out, finished, ending));
  return finished.results.overall.exit_code;
}

}  // namespace

void add_merge(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(app, action, "merge", "merge the shards of a run", merge);
  verb->group(kRunGroup);
  verb->footer(
      "Example, first on each of four machines, then on one:\n"
      "  memduel run compare.json --repeats 16 --seed 7 --shard 1/4 --out shard-1\n"
      "  memduel merge shard-1 shard-2 shard-3 shard-4 --out runs/merged\n"
      "\n"
      "The report names a missing shard. See docs/scale.md.");
  set_usage(*verb, {"--out DIR [OPTIONS] DIR..."});
  verb->add_option("DIR", arguments->directories, "directories of the shards")
      ->required()
      ->transform(find_run);
  verb->add_option("--out", arguments->out, "write the run to DIR")
      ->required()
      ->type_name("DIR")
      ->group(kOutputOptions);
  add_on_inconclusive(*verb, arguments->gate);
  add_verbose(*verb, arguments->verbose);
  add_exports(*verb, arguments->exports);
  add_exit_codes(*verb);
}

}  // namespace memduel::cli
