// What `memduel compare` compares: commands of a command line, two builds, or two revisions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/document.h"
#include "run_options.h"

namespace memduel::cli {

/// What --ignore-failure is without a value.
inline constexpr const char* kAllStatuses = "true";

struct ComparedCommands {
  std::string baseline;
  // NOLINTBEGIN(readability-redundant-member-init): -Wextra
  std::vector<std::string> candidates = {};  ///< one or more; none where parameters are scanned
  std::vector<std::string> names = {};    ///< of the baseline, then of the candidates; may be fewer
  std::vector<std::string> scans = {};    ///< NAME=VALUE,VALUE,…: {NAME} in the baseline's command
  std::vector<std::string> prepare = {};  ///< commands before each trial
  std::optional<std::string> round_pattern = {};  ///< as memduel watch has it
  std::vector<std::string> logs = {};             ///< in which it is looked for
  /// Exit statuses that are as good as 0: "1,2", or kAllStatuses.
  std::string ignored_statuses = {};
  // NOLINTEND(readability-redundant-member-init)
  bool shell = false;      ///< hand each to /bin/sh -c
  bool calibrate = false;  ///< the last candidate may be the baseline again
};

/// One process with an arm for each command, or for each combination of the parameters' values.
/// Throws Error(usage) naming the option and what was found.
Document document_of(const ComparedCommands& commands);

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
  bool shell = false;              ///< hand each to /bin/sh -c
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
