// What is known of a job beside its trials: its roles, which of them are one group, whose rounds
// count for all, and its default gates. It is stored with the run, so that a reader need not know
// where the job came from.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric_catalogue.h"
#include "util/reflection.h"

namespace memduel {

struct RoleMetric {
  std::string role;
  std::string metric;
  auto operator<=>(const RoleMetric&) const = default;
};

/// Processes of one kind: NAME-1 to NAME-COUNT. Verdicts are about two roles that stand for all of
/// them: NAME_max, the largest of each number, and NAME_median.
struct RoleGroup {
  std::string name;
  int count = 0;

  [[nodiscard]] std::string largest() const { return name + "_max"; }
  [[nodiscard]] std::string median() const { return name + "_median"; }
  [[nodiscard]] bool has(std::string_view role) const;

  bool operator==(const RoleGroup&) const = default;
};

/// What a role must hold at once, whatever the program does: M + copies × P, where M are the bytes
/// of its model's state and P those of the model's trainable parameters.
struct HeldModel {
  std::string role;
  std::string metric;  ///< that cannot be below
  int copies = 0;      ///< of the trainable parameters
  std::string what;    ///< the copies are: "gradients and Adam's two moments"

  bool operator==(const HeldModel&) const = default;
};

struct JobFacts {
  std::vector<std::string> roles;  ///< in the order of their start, those of descendants last
  std::vector<RoleGroup> groups;
  std::string reference;  ///< the role whose rounds are the job's; empty: the first
  /// The rows that get a corrected verdict when nobody named a gate.
  std::vector<RoleMetric> default_gates = {{kTree, kPeakHeapAndMapped}, {kTree, kPeakRssNoFiles}};
  std::vector<HeldModel> held_models;
  /// Of the metrics that are the job's own: those that its config and its programs declare, and
  /// those that it logs without a word of them. A metric without an entry is undeclared, too.
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::map<std::string, Direction> better = {};
  /// No process told of rounds, so that each is one round. Found in the trials, not stored.
  bool is_one_round = false;

  bool operator==(const JobFacts&) const = default;
};

/// A metric of the table, or one of the job's own with the direction that is declared of it.
MetricInfo metric_info(const JobFacts& job, std::string_view name);

/// A group as one of the two roles that stand for it.
struct GroupRole {
  const RoleGroup* group = nullptr;
  bool is_median = false;  ///< else the largest
};

/// The group that `role` stands for; absent where it is one of the processes, or the tree.
std::optional<GroupRole> group_role(const JobFacts& job, std::string_view role);

/// How people read a role: "server", "largest client", "all processes".
std::string role_words(const JobFacts& job, std::string_view role);

/// Whether `role` is NAME_median of a group, which says less than NAME_max.
bool is_median_of_group(const JobFacts& job, std::string_view role);

/// Whether the process `role` is NAME-1, NAME-2, … of a group.
bool is_member(const JobFacts& job, std::string_view role);

/// Whether a row about `asked` is about the process `role`: its own, its group's or the tree's.
bool is_about(const JobFacts& job, std::string_view asked, std::string_view role);

/// The groups that roles show by their names where nobody kept them: NAME-1 to NAME-n, none
/// missing.
std::vector<RoleGroup> groups_by_name(const std::vector<std::string>& roles);

nlohmann::json to_json(const JobFacts& job);

/// @param where the file and the place of `value`. Throws Error(io) where it is no such value.
JobFacts job_facts_from_json(const nlohmann::json& value, const std::string& where);

/// Among the gates of a config or a command line: the workload's default ones, which then decide.
inline constexpr const char* kDefaultGates = "default";

template <>
inline constexpr auto kDescription<RoleGroup> =
    described("RoleGroup", always("name", &RoleGroup::name), always("count", &RoleGroup::count));

template <>
inline constexpr auto kDescription<RoleMetric> = described(
    "RoleMetric", always("role", &RoleMetric::role), always("metric", &RoleMetric::metric));

template <>
inline constexpr auto kDescription<HeldModel> =
    described("HeldModel", always("role", &HeldModel::role), always("metric", &HeldModel::metric),
              always("copies", &HeldModel::copies), always("what", &HeldModel::what));

template <>
inline constexpr auto kDescription<JobFacts> = described(
    "JobFacts", always("roles", &JobFacts::roles), always("groups", &JobFacts::groups),
    always("reference", &JobFacts::reference), always("default_gates", &JobFacts::default_gates),
    always("held_models", &JobFacts::held_models), if_set("better", &JobFacts::better));

}  // namespace memduel
