// Every verb of the command line: each adds its subcommand to the app and, once parsed, says what
// to do.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace memduel::cli {

/// What the chosen verb does; returns the exit code.
using Action = std::function<int()>;

/// What `record` and `watch -- CMD` return when memduel itself failed, also for bad usage.
inline constexpr int kOwnFailure = 125;

void add_run(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_record(CLI::App& app, Action& action);
void add_watch(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_summary(CLI::App& app, Action& action);
void add_flamegraph(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_ablate(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);

}  // namespace memduel::cli
