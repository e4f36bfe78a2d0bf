// memduel check DIR: judges a finished run by gates, without running anything.
#include <filesystem>

#include "base/error.h"
#include "base/run_directory.h"
#include "cli/finished_run.h"
#include "cli/report_formats.h"
#include "cli/run_options.h"
#include "cli/verbs.h"
#include "experiment/store/store.h"

namespace memduel::cli {
namespace {

struct CheckArguments {
  std::string directory;
  std::vector<std::string> gates;
  bool fail_on_undecided = false;
  bool strict_gates = false;
  bool no_default_gates = false;
  bool verbose = false;
  std::vector<Export> exports;
};

/// The run that is judged is not written over.
void refuse_file_of_run(const std::filesystem::path& file, const std::filesystem::path& run) {
  for (const char* own : {kStoreFile, kResultsFile, kConfigFile, kLockFile}) {
    std::error_code error;
    if (std::filesystem::equivalent(file, run / own, error))
      throw Error(ExitCode::usage, "found a file of the run itself, expected another to write",
                  file.string());
  }
}

int check(const CheckArguments& arguments) {
  check_exports(arguments.exports);
  for (const auto& [format, file] : arguments.exports)
    refuse_file_of_run(file, arguments.directory);
  const FinishedRun finished = conclude(
      arguments.directory, {arguments.gates, arguments.strict_gates, arguments.no_default_gates},
      WithSeries::no);
  deliver(told_of(finished, {.verbose = arguments.verbose, .exports = arguments.exports}));
  return static_cast<int>(gates_exit_code(finished.results, arguments.fail_on_undecided));
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "check", "judge a finished run by gates", check);
  verb->group("Gate");
  verb->footer(
      "Examples:\n"
      "  memduel check runs/quickstart --gate 'server.peak_rss_bytes<=+2%|+4MiB'\n"
      "  memduel check runs/quickstart --gate 'server.peak_rss_bytes<=900MiB' --on-undecided fail");
  verb->add_option("DIR", arguments->directory, "a run directory")->required();
  verb->add_option("--gate", arguments->gates, "ROLE.METRIC<=BOUND[|BOUND][:advisory] (repeatable)")
      ->type_name("G")
      ->allow_extra_args(false);
  add_on_undecided(*verb, arguments->fail_on_undecided);
  add_gate_flags(*verb, arguments->strict_gates, arguments->no_default_gates);
  add_verbose(*verb, arguments->verbose);
  add_exports(*verb, arguments->exports);
  verb->add_option_function<std::string>(
          "--junit",
          [exports = &arguments->exports](const std::string& file) {
            exports->emplace_back("junit", file);
          },
          "the same as --export junit FILE")
      ->type_name("FILE");
}

}  // namespace memduel::cli
