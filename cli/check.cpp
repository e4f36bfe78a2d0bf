// memduel check DIR: judges a finished run by gates, without running anything.
#include <filesystem>

#include "cli/verbs.h"
#include "finished_run.h"
#include "gate_options.h"
#include "run/store.h"
#include "run_options.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

struct CheckArguments {
  std::string directory;
  GateOptions gate;
  bool verbose = false;
  std::vector<Export> exports;
};

int judge(const CheckArguments& arguments) {
  refuse_hyperfine_file("check", arguments.directory);
  const GateOptions& gate = arguments.gate;
  const Kept kept{{arguments.directory}, std::nullopt};
  check_exports(arguments.exports, kept);
  Demands demands{gate.named, gate.strict, gate.no_defaults};
  demands.is_check = true;
  demands.on_inconclusive = gate.inconclusive();
  const FinishedRun finished = conclude(arguments.directory, demands, WithSeries::no);
  const Document config = judged_config(finished.run.config, demands);
  refuse_undecided_exit(config, gate);
  const std::vector<std::string>& named = finished.run.config.gates;
  if (!gate.named.empty() && named != gate.named) tell_replaced_gates(named);
  deliver(told_of(finished, {arguments.verbose, has_named_gates(config), arguments.exports, kept}));
  return finished.results.overall.exit_code;
}

int check(const CheckArguments& arguments) {
  const int code = judge(arguments);
  return arguments.gate.bisect ? bisect_code(code) : code;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "check", "judge a finished run by gates", check);
  verb->group(kRunGroup);
  verb->footer(
      "Examples:\n"
      "  memduel check runs/quickstart --gate 'server.peak_rss_bytes<=+2%|+4MiB'\n"
      "  memduel check runs/quickstart --gate default --on-inconclusive fail");
  add_run_directory(*verb, arguments->directory);
  add_gate_options(*verb, arguments->gate);
  add_no_defaults(*verb, arguments->gate);
  add_bisect(*verb, arguments->gate);
  add_verbose(*verb, arguments->verbose);
  add_exports(*verb, arguments->exports);
  verb->add_option_function<std::string>(
          "--junit",
          [exports = &arguments->exports](const std::string& file) {
            exports->emplace_back("junit", file);
          },
          "write a JUnit report to FILE, as --export junit FILE")
      ->type_name("FILE")
      ->group(kOutputOptions);
  add_exit_codes(*verb, true);
}

}  // namespace memduel::cli
