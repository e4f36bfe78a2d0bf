// A job as a config of kind command asks for it: checked, with every default, its placeholders not
// yet filled; and what its workload says of its roles.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/job_facts.h"
#include "trial/trial_plan.h"

namespace memduel {

/// When a process of the job is ready; see Ready.
struct JobReady {
  std::optional<std::string> port_name;  ///< of {port:NAME}
  std::optional<int> port;
  std::optional<std::string> log;
  std::optional<std::string> file;
  double delay_seconds = 0;
  double within_seconds = 60;
  bool operator==(const JobReady&) const = default;
};

using Argv = std::vector<std::string>;

/// One process, or `count` of them.
struct JobProcess {
  std::string role;
  std::optional<int> count = std::nullopt;
  Argv argv;
  std::string cwd = ".";
  std::map<std::string, std::string> env;
  std::vector<std::string> after;  ///< roles, of a counted one all
  std::optional<JobReady> ready = std::nullopt;
  End end = End::wait;
  bool takes_rounds = false;
  std::vector<int> exit_statuses = {0};
  std::vector<int> nodes = {1};  ///< taken in turn by the processes of a count
  bool operator==(const JobProcess&) const = default;

  /// ROLE, or ROLE-1 to ROLE-count.
  [[nodiscard]] std::vector<std::string> roles() const;
  /// Of the n-th of roles(), counted from 0.
  [[nodiscard]] int node(std::size_t place) const { return nodes[place % nodes.size()]; }
};

/// A file of each trial, its placeholders replaced: a copy, or a JSON document.
struct JobTemplate {
  std::optional<std::string> from;
  std::string json;
  std::string to;
  bool operator==(const JobTemplate&) const = default;
};

/// What a trial leaves, by which the arms are told to compute the same.
struct Artifact {
  enum class Kind { file, final_model, printed };
  Kind kind = Kind::file;
  std::string name;            ///< of a file in the config; else kFinalModel or kStandardOutput
  std::filesystem::path path;  ///< empty: its only process prints it
  Argv compare;  ///< with {a} and {b}: how far two are apart; empty: only equality counts

  [[nodiscard]] bool is_model() const { return kind == Kind::final_model; }
};

struct Job {
  std::vector<JobProcess> processes;  ///< before an arm's changes
  std::vector<RoleMatch> match;
  std::vector<TextMarkSpec> marks;  ///< of roles as the config names them
  std::string cwd = ".";
  std::vector<JobTemplate> templates;
  std::vector<Artifact> artifacts;  ///< the final model first
  std::optional<int> rounds;        ///< that it has, where that is known
  std::vector<Argv> prepare;
  std::vector<Argv> cleanup;
  std::optional<int> stop_after_round;
  double stop_grace_seconds = 5;
  bool pss_between_rounds = true;
  bool memduel_statuses = false;  ///< its processes' exit statuses mean what memduel's do
  bool differs_by_block = false;  ///< something in it has {block}: no two blocks are alike
};

/// @param workload resolved, of kind command.
Job job_from_json(const nlohmann::json& workload);

std::vector<JobTemplate> job_templates_from_json(const nlohmann::json& templates);

/// "node" of an element of "processes", resolved or not: see JobProcess::nodes.
std::vector<int> nodes_of_process(const nlohmann::json& process);
/// Whether one of such nodes is another than memduel's own.
bool are_elsewhere(const std::vector<int>& nodes);

/// One element of "processes".
JobProcess job_process_from_json(const nlohmann::json& process);

/// The marks of one trial, each for every process of its role.
/// @param fill replaces the placeholders in a mark of the process with that {index}.
std::vector<TextMarkSpec> planned_text_marks(
    const Job& job, const std::function<void(TextMarkSpec& mark, int index)>& fill);

/// @param workload resolved, of kind command: a process with a count of several is a group.
JobFacts job_facts_of(const nlohmann::json& workload);

}  // namespace memduel
