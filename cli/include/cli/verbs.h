// Every verb of the command line: each adds its subcommand to the app and, once parsed, says what
// to do.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace memduel::cli {

/// What the chosen verb does; returns the exit code.
using Action = std::function<int()>;

template <typename Arguments>
struct AddedVerb {
  CLI::App* verb;
  Arguments* arguments;  ///< live as long as the app
};

/// A verb that runs `run` with the arguments which its options fill.
template <typename Arguments>
AddedVerb<Arguments> add_verb(CLI::App& app, Action& action, const char* name, const char* help,
                              int (*run)(const Arguments&)) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(name, help);
  verb->callback(
      [arguments, run, &action] { action = [arguments, run] { return run(*arguments); }; });
  return {verb, arguments.get()};
}

/// A command that is a program of its own, which CLI11 does not parse.
struct OtherProgram {
  std::string name;
  std::string description;
  std::string group;
};

/// Those that come with memduel or memduel-fl.
std::vector<OtherProgram> other_programs();

/// Groups of the commands on the first page of the help.
inline constexpr const char* kCompareGroup = "Compare and run";
inline constexpr const char* kProfileGroup = "Record and view profiles";
inline constexpr const char* kReportGroup = "Reports";
inline constexpr const char* kRunGroup = "Run directories";
inline constexpr const char* kSetupGroup = "Config and environment";
inline constexpr const char* kFlGroup = "FL workloads";

/// Groups of options in the help of one command.
inline constexpr const char* kWhatOptions = "What to run";
inline constexpr const char* kHowOftenOptions = "How often";
inline constexpr const char* kVerdictOptions = "Verdict";
inline constexpr const char* kOutputOptions = "Output";

/// What `record` and `watch -- CMD` return when memduel itself failed, also for bad usage.
inline constexpr int kOwnFailure = 125;

/// All verbs below, in the order of the help.
void add_verbs(CLI::App& app, Action& action);

void add_run(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_measure(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_runs(CLI::App& app, Action& action);
void add_record(CLI::App& app, Action& action);
void add_watch(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_summary(CLI::App& app, Action& action);
void add_flamegraph(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_need(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_ablate(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);

}  // namespace memduel::cli
