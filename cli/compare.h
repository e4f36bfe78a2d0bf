// What `memduel compare` compares: commands of a command line, two builds, or two revisions.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/document.h"
#include "run_options.h"

namespace memduel::cli {

/// What --ignore-failure is without a value.
inline constexpr const char* kAllStatuses = "true";

/// Trials of a command that is compared with nothing, so that there is nothing to decide. With ten
/// the range holds the median of all trials with a confidence of 99.8%.
inline constexpr int kTrialsOfOne = 10;

struct ComparedCommands {
  // NOLINTBEGIN(readability-redundant-member-init): -Wextra
  std::vector<std::string> commands = {};  ///< the baseline first
  std::vector<std::string> names = {};     ///< of the commands in their order; may be fewer
  /// VAR and VALUES, separated by commas: {VAR} in every command.
  std::vector<std::pair<std::string, std::string>> lists = {};
  std::vector<std::string> scan = {};    ///< VAR, MIN and MAX; empty: none
  std::optional<std::string> step = {};  ///< of the scan
  // One for all commands, or one for each.
  std::vector<std::string> env = {};              ///< "A=1 B='x y'"
  std::vector<std::string> prepare = {};          ///< before each trial
  std::vector<std::string> conclude = {};         ///< after each trial
  std::optional<std::string> setup = {};          ///< before the first trial of each command
  std::optional<std::string> cleanup = {};        ///< after the last trial of each command
  std::optional<std::string> round_pattern = {};  ///< as memduel watch has it
  std::vector<std::string> logs = {};             ///< in which it is looked for
  /// Exit statuses that are as good as 0: "1,2", or kAllStatuses.
  std::string ignored_statuses = {};
  std::vector<std::string> shell = {};  ///< that gets a command as its last word; empty: none
  // NOLINTEND(readability-redundant-member-init)
  bool calibrate = false;     ///< the last candidate may be the baseline again
  bool are_lettered = false;  ///< a, b, c: --a and --b name them so
};

/// A command with the values of its parameters.
struct NamedCommand {
  std::string name;
  std::string text;
  std::string env;
  std::string prepare;
  std::string conclude;
  std::string setup;
  std::string cleanup;
  std::map<std::string, std::string> parameters = {};  // NOLINT(readability-redundant-member-init)
};

/// Throws Error(usage) for VAR=VALUES in the place of VAR.
void check_lists(const std::vector<std::pair<std::string, std::string>>& lists);

/// Throws Error(usage) unless it is empty or VAR MIN MAX.
void check_scan(const std::vector<std::string>& scan);

/// Every command with every combination of the parameters' values, the first value's first. Throws
/// Error(usage) naming the option and what was found.
std::vector<NamedCommand> named_commands(const ComparedCommands& commands);

/// One process with a variant for each of them, one of them with kTrialsOfOne trials. Throws as
/// named_commands().
Document document_of(const ComparedCommands& commands);

/// "sh -c" of "default", none of "none", "bash --norc -c" of "bash --norc".
std::vector<std::string> shell_named(const std::string& name);

/// What runs `text` in `shell`, or in /bin/sh where none is chosen.
std::vector<std::string> in_shell(std::vector<std::string> shell, const std::string& text);

/// What both forms share.
struct BuildsArguments {
  std::vector<std::string> words;  ///< PROGRAM ARGS…, or one CONFIG
  std::optional<std::string> arm;  ///< of CONFIG; absent: its baseline
  bool calibrate = false;
  RunOptions options;
};

struct RevisionsArguments {
  std::string ref_a;
  std::string ref_b;
  std::vector<std::string> build;  ///< command lines, in order
  std::vector<std::string> shell;  ///< that gets each as its last word; empty: none
  std::vector<std::string> keep;
};

/// The names of the last folders of two directories, where these tell them apart and can be names
/// of arms; else "a" and "b".
std::pair<std::string, std::string> names_of_directories(const std::string& a,
                                                         const std::string& b);
/// One word that is a JSON file is an experiment, everything else a program and its arguments.
std::optional<std::filesystem::path> config_in(const std::vector<std::string>& words);

/// Duels the program in two build directories.
int compare_directories(const std::string& a, const std::string& b,
                        const BuildsArguments& arguments);

/// Builds two revisions of the current repository and duels the program in them; passes, and says
/// so, when both hold the same files. Throws Error(cannot_measure) when one does not build.
int compare_revisions(const RevisionsArguments& revisions, const BuildsArguments& arguments);

}  // namespace memduel::cli
