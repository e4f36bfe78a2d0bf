// Two builds of one program as an experiment, as somebody would write it in a file.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiment/builds/builds.h"
#include "experiment/builds/worktree_arguments.h"

namespace memduel {

struct BuildPair {
  std::filesystem::path a;  ///< the baseline's directory
  std::filesystem::path b;
  std::string arm_a = "a";  ///< names of the arms
  std::string arm_b = "b";
  bool calibrate = false;  ///< b is a twin of a
};

/// `name` where it can be the name of an arm, slashes as dashes; absent: it cannot.
std::optional<std::string> arm_name_for(const std::string& name);

struct BuildDuel {
  nlohmann::json document;
  std::vector<BuildProgram> a;  ///< what each arm runs out of its build
  std::vector<BuildProgram> b;
};

/// One process of role `command`: `words` are the program in each build and its arguments. `cwd_a`
/// and `cwd_b` are where it runs. Throws as find_in_build does.
BuildDuel duel_of_program(const BuildPair& builds, const std::vector<std::string>& words,
                          const std::filesystem::path& cwd_a, const std::filesystem::path& cwd_b);

/// One arm of a config (`arm`, else its baseline) in both builds: of a command workload every
/// process whose program lies in the builds, of a replay memduel-worker. Throws Error(usage) when
/// the config names no program of the builds.
BuildDuel duel_of_config(const BuildPair& builds, nlohmann::json document,
                         const std::optional<std::string>& arm, const std::string& origin);

/// Lets both arms of a job whose config lies in `directory` of the repository in `root` run in the
/// folders of their own worktrees, the builds, that are the job's `cwd`. Left as it is: a `cwd`
/// outside the repository or with placeholders, and a job of which a process has a `cwd` of its
/// own. Throws Error(usage) when a worktree has no such folder.
void start_in_worktrees(BuildDuel& duel, const BuildPair& builds, const std::filesystem::path& root,
                        const std::filesystem::path& directory);

/// Of every process of a config's `arm` (absent: its baseline) that start_in_worktrees would start
/// in the worktrees. `document` follows the schema.
std::vector<WorktreeArguments> arguments_in_worktrees(const nlohmann::json& document,
                                                      const std::optional<std::string>& arm,
                                                      const std::string& origin,
                                                      const std::filesystem::path& root,
                                                      const std::filesystem::path& directory);

/// Whether every program of both sides is the same, with the libraries that it loads.
bool same_programs(const BuildDuel& duel);

/// For the run's environment: each side's program and libraries with their build ids.
nlohmann::json describe_programs(const std::vector<BuildProgram>& programs);

}  // namespace memduel
