// compare --build-a/--build-b and --ref-a/--ref-b: two builds of one program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_options.h"

namespace memduel::cli {

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
