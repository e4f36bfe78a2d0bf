// How command lines are run: the options that compare and measure share, and the run.
#pragma once

#include <CLI/CLI.hpp>
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

/// Runs the trials of the commands, prints the report and returns the exit code. One command is
/// measured by itself. Throws as named_commands() and duel_and_conclude().
int run_commands(const ComparedCommands& commands, RunOptions options);

}  // namespace memduel::cli
