// How command lines are run: the options that compare and measure share, and the run.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare.h"
#include "run_options.h"

namespace memduel::cli {

inline constexpr const char* kCommandOptions = "Commands";

struct CommandOptions {
  ComparedCommands run;  ///< its shell is that of shell_of()
  std::string shell;
  bool default_shell = false;
  bool no_shell = false;
};

/// `options` must outlive the parse.
void add_command_options(CLI::App& verb, CommandOptions& options);

/// hyperfine's options beside --export. `options` must outlive the parse.
void add_hyperfine_exports(CLI::App& verb, RunOptions& options);

/// The shell that is chosen; empty: none. Throws Error(usage) for -N and a shell.
std::vector<std::string> shell_of(const CommandOptions& options);

/// The number of trials that --min-runs and --max-runs, or --repeats, set for commands with this
/// many variants. Absent: the number that memduel chooses is within the bounds. If it is not, all
/// trials are taken before the only look, so that the error rate is that of --repeats. Throws
/// Error(usage) for bounds beside --repeats and for a minimum above the maximum.
std::optional<int> repeats_within_bounds(const RunOptions& options, std::size_t variants);

/// Runs the trials of the commands, prints the report and returns the exit code. One command is
/// measured by itself. Throws as named_commands() and duel_and_conclude().
int run_commands(const ComparedCommands& commands, RunOptions options);

}  // namespace memduel::cli
