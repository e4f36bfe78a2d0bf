// A job: the workload of kind command of a config, its placeholders not yet filled, and what it
// says of its roles. What a key has where the config does not give it stands here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/job_facts.h"
#include "util/reflection.h"

namespace memduel {

/// How a process takes part in the trial's end.
enum class End {
  wait,  ///< the trial is over when all such processes have exited
  stop,  ///< then SIGTERM, after a grace SIGKILL; ending by these signals is success
};

template <>
inline constexpr NameTable<End, 2> kNameTable<End> = {{{End::wait, "wait"}, {End::stop, "stop"}}};

/// ROLE, or with a count ROLE-1 to ROLE-count.
inline std::vector<std::string> numbered_roles(const std::string& role, std::optional<int> count) {
  if (!count) return {role};
  std::vector<std::string> names;
  for (int index = 1; index <= *count; ++index) names.push_back(role + "-" + std::to_string(index));
  return names;
}

/// Descendants whose arguments, joined by spaces, match are a role of their own, or with a count
/// one role each.
struct RoleMatch {
  std::string role;
  std::string pattern;                        ///< PCRE2
  std::optional<std::string> ancestor = {};   ///< a role; absent: of any
  std::optional<int> count = {};              ///< how many may live at once
  std::optional<std::string> port_name = {};  ///< of {port:NAME}, on which they listen
  std::optional<int> port = {};               ///< on which they listen; absent: any or none

  /// ROLE, or ROLE-1 to ROLE-count.
  [[nodiscard]] std::vector<std::string> roles() const { return numbered_roles(role, count); }
};

/// Lines of a log that mark rounds, phases and metrics of a role.
struct TextMarkSpec {
  enum class From { standard_output, standard_error, file };

  std::string role;
  From from = From::standard_output;
  std::filesystem::path file;  ///< of a stream: where it is written, once its trial is planned
  std::string pattern;         ///< see TextMarkPattern
};

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
using Environment = std::map<std::string, std::string>;

/// One process, or `count` of them.
struct JobProcess {
  std::string role;
  std::optional<int> count = std::nullopt;
  Argv argv;
  std::string cwd;  ///< empty: the job's
  Environment env;
  std::vector<std::string> after;  ///< roles, of a counted one all
  std::optional<JobReady> ready = std::nullopt;
  End end = End::wait;
  bool takes_rounds = false;  ///< those of the reference; else its own
  std::vector<int> exit_statuses = {0};
  std::vector<int> nodes = {1};  ///< taken in turn by the processes of a count
  bool operator==(const JobProcess&) const = default;

  /// ROLE, or ROLE-1 to ROLE-count.
  [[nodiscard]] std::vector<std::string> roles() const { return numbered_roles(role, count); }
  /// Of the n-th of roles(), counted from 0.
  [[nodiscard]] int node(std::size_t place) const { return nodes[place % nodes.size()]; }
};

/// A file of each trial, its placeholders replaced: a copy, or a JSON document.
struct JobTemplate {
  std::optional<std::string> from;
  std::optional<nlohmann::json> json;
  std::string to;
  bool operator==(const JobTemplate&) const = default;
};

/// What each trial must leave.
struct JobFile {
  std::string name;
  std::string path;
  Argv compare;
};

/// The model that each trial must leave.
struct FinalModel {
  std::string path;
  Argv compare;
};

struct OwnMetric {
  Direction better = Direction::undeclared;
};

/// What a trial leaves, by which the variants are shown to compute the same.
struct Artifact {
  enum class Kind { file, final_model, printed };
  Kind kind = Kind::file;
  std::string name;            ///< of a file in the config; else kFinalModel or kStandardOutput
  std::filesystem::path path;  ///< empty: its only process prints it
  Argv compare;  ///< with {a} and {b}: how far two are apart; empty: only equality counts

  [[nodiscard]] bool is_model() const { return kind == Kind::final_model; }
};

struct Job {
  std::vector<JobProcess> processes;  ///< before a variant's changes
  std::vector<RoleMatch> match;
  std::vector<TextMarkSpec> marks;  ///< of roles as the config names them
  std::map<std::string, OwnMetric> metrics;
  std::optional<std::string> reference;
  std::string cwd;  ///< empty: the directory of the config
  std::vector<JobTemplate> templates;
  std::vector<JobFile> files;
  std::optional<FinalModel> final_model;
  std::optional<int> rounds;  ///< that it has, where that is known
  std::vector<Argv> prepare;
  std::vector<Argv> cleanup;
  std::optional<int> stop_after_round;
  double stop_grace_seconds = 5;
  bool pss_between_rounds = true;
  bool memduel_statuses = false;      ///< its processes' exit statuses mean what memduel's do
  std::optional<std::uint64_t> seed;  ///< {seed}; absent in a config: measure.seed, else 1
  double deadline_seconds = 600;      ///< of a trial

  /// The final model first.
  [[nodiscard]] std::vector<Artifact> artifacts() const;
};

/// The job of a run, which this or an earlier version kept. Throws Error(usage) where it is none.
Job job_from_json(const nlohmann::json& workload, const std::string& origin);

/// Whether one of the nodes is another than memduel's own.
inline bool are_elsewhere(const std::vector<int>& nodes) {
  return std::ranges::any_of(nodes, [](int node) { return node > 1; });
}

/// The marks of one trial, each for every process of its role.
/// @param fill replaces the placeholders in a mark of the process with that {index}.
std::vector<TextMarkSpec> planned_text_marks(
    const Job& job, const std::function<void(TextMarkSpec& mark, int index)>& fill);

}  // namespace memduel
