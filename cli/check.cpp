// memduel check DIR: judges a finished run by gates, without running anything.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/questions/budgets.h"
#include "base/error.h"
#include "base/file.h"
#include "base/run_directory.h"
#include "base/text_file.h"
#include "cli/finished_run.h"
#include "cli/print.h"
#include "cli/report_formats.h"
#include "cli/run_options.h"
#include "cli/verbs.h"
#include "experiment/config/json_text.h"
#include "experiment/store/store.h"

namespace memduel::cli {
namespace {

constexpr const char* kBudgetsFile = "memduel-budgets.json";

struct CheckArguments {
  std::string directory;
  std::vector<std::string> gates;
  std::optional<std::string> budgets;
  bool write_budgets = false;
  std::optional<std::string> candidate;
  bool fail_on_undecided = false;
  bool strict_gates = false;
  bool no_default_gates = false;
  bool verbose = false;
  std::vector<Export> exports;
};

std::vector<Gate> read_budgets(const std::string& path) {
  try {
    return budgets_from_json(parse_json_text(read_text_file(path), path), path);
  } catch (const Error& error) {
    throw Error(ExitCode::io, error.what(), error.where(), error.advice());
  }
}

/// The budgets' ceilings are gates beside those of the config or the command line.
FinishedRun judged(const CheckArguments& arguments, const std::vector<Gate>& budgets) {
  const Demands demands{arguments.gates, budgets, arguments.strict_gates,
                        arguments.no_default_gates};
  return conclude(arguments.directory, demands, WithSeries::no);
}

std::string only_candidate(const CheckArguments& arguments, const Results& results) {
  std::vector<std::string> candidates;
  for (const ArmSummary& arm : results.arms)
    if (arm.name != results.baseline) candidates.push_back(arm.name);
  if (!arguments.candidate && candidates.size() == 1) return candidates.front();
  const bool known = arguments.candidate &&
                     std::ranges::find(candidates, *arguments.candidate) != candidates.end();
  if (!known)
    throw Error(ExitCode::usage, "which arm's needs are the budgets?", "--candidate",
                fmt::format("one of: {}", fmt::join(candidates, ", ")));
  return *arguments.candidate;
}

int write_new_budgets(const CheckArguments& arguments) {
  const std::string path = arguments.budgets.value_or(kBudgetsFile);
  const std::vector<Gate> old =
      std::filesystem::exists(path) ? read_budgets(path) : std::vector<Gate>();
  const FinishedRun finished = judged(arguments, {});
  const nlohmann::json budgets =
      updated_budgets(old, finished.results, only_candidate(arguments, finished.results));
  write_named_file(path, budgets.dump(2) + "\n");
  print(fmt::format("{} ceilings in {}\n", budgets.at("ceilings").size(), path));
  return 0;
}

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
  if (arguments.write_budgets) return write_new_budgets(arguments);
  const FinishedRun finished =
      judged(arguments, arguments.budgets ? read_budgets(*arguments.budgets) : std::vector<Gate>());
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
      "  memduel check runs/quickstart --write-budgets\n"
      "  memduel check runs/quickstart --budgets memduel-budgets.json --on-undecided fail");
  verb->add_option("DIR", arguments->directory, "a run directory")->required();
  verb->add_option("--gate", arguments->gates, "ROLE.METRIC<=BOUND[|BOUND][:advisory] (repeatable)")
      ->type_name("G")
      ->allow_extra_args(false);
  verb->add_option("--budgets", arguments->budgets,
                   "ceilings to hold beside the gates, as --write-budgets leaves them")
      ->type_name("FILE");
  verb->add_flag("--write-budgets", arguments->write_budgets,
                 "set the ceilings in --budgets (default: memduel-budgets.json) to what the "
                 "candidate needed plus 2 %");
  verb->add_option("--candidate", arguments->candidate,
                   "the arm whose needs become budgets, where there are several")
      ->type_name("ARM");
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
