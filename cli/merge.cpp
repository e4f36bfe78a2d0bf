// memduel merge DIR… --out DIR: the shares of a run as the run.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/finished_run.h"
#include "cli/report_formats.h"
#include "cli/run_options.h"
#include "cli/verbs.h"
#include "experiment/run/merge_shares.h"

namespace memduel::cli {
namespace {

struct MergeArguments {
  std::vector<std::filesystem::path> directories;
  std::filesystem::path out;
  bool fail_on_undecided = false;
  bool verbose = false;
  std::vector<Export> exports;
};

int merge(const MergeArguments& arguments) {
  check_exports(arguments.exports);
  merge_shares(arguments.directories, arguments.out);
  const FinishedRun finished = conclude(arguments.out);
  deliver(write_outputs(arguments.out, finished, {arguments.verbose, true, arguments.exports}));
  return static_cast<int>(gates_exit_code(finished.results, arguments.fail_on_undecided));
}

}  // namespace

void add_merge(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "merge", "make one run of the shares that machines measured", merge);
  verb->group("Compare");
  verb->footer(
      "Example, on four machines and then on one:\n"
      "  memduel run duel.json --repeats 16 --seed 7 --blocks 1/4 --out share-1\n"
      "  memduel merge share-1 share-2 share-3 share-4 --out runs/duel\n"
      "A share that is missing is named in the report. See docs/scale.md.");
  verb->add_option("DIR", arguments->directories, "directories of shares")->required();
  verb->add_option("--out", arguments->out, "directory for the run")->required()->type_name("DIR");
  add_on_undecided(*verb, arguments->fail_on_undecided);
  add_verbose(*verb, arguments->verbose);
  add_exports(*verb, arguments->exports);
}

}  // namespace memduel::cli
