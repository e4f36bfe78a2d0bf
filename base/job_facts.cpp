#include "base/job_facts.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/json_reason.h"

namespace memduel {
namespace {

using nlohmann::json;

json to_json(const RoleGroup& group) {
  return {{"name", group.name}, {"count", group.count}};
}

json to_json(const RoleMetric& row) {
  return {{"role", row.role}, {"metric", row.metric}};
}

json to_json(const HeldModel& held) {
  return {
      {"role", held.role}, {"metric", held.metric}, {"copies", held.copies}, {"what", held.what}};
}

template <typename T>
json list_of(const std::vector<T>& values) {
  json list = json::array();
  for (const T& value : values) list.push_back(to_json(value));
  return list;
}

}  // namespace

bool RoleGroup::has(std::string_view role) const {
  if (!role.starts_with(name) || role.size() < name.size() + 2 || role[name.size()] != '-')
    return false;
  const char* const end = role.data() + role.size();
  int number = 0;
  const auto [rest, error] = std::from_chars(role.data() + name.size() + 1, end, number);
  return error == std::errc() && rest == end && number >= 1 && number <= count;
}

std::optional<GroupRole> group_role(const JobFacts& job, std::string_view role) {
  for (const RoleGroup& group : job.groups) {
    if (role == group.largest()) return GroupRole{&group, false};
    if (role == group.median()) return GroupRole{&group, true};
  }
  return std::nullopt;
}

bool is_median_of_group(const JobFacts& job, std::string_view role) {
  const auto group = group_role(job, role);
  return group && group->is_median;
}

bool is_member(const JobFacts& job, std::string_view role) {
  return std::ranges::any_of(job.groups, [&](const RoleGroup& group) { return group.has(role); });
}

bool is_about(const JobFacts& job, std::string_view asked, std::string_view role) {
  if (asked == role || asked == "tree") return true;
  const auto group = group_role(job, asked);
  return group && group->group->has(role);
}

std::vector<RoleGroup> groups_by_name(const std::vector<std::string>& roles) {
  constexpr std::string_view kFirst = "-1";
  std::vector<RoleGroup> groups;
  for (const std::string& role : roles) {
    if (!role.ends_with(kFirst)) continue;
    RoleGroup group{role.substr(0, role.size() - kFirst.size()), 1};
    const auto next = [&] { return group.name + "-" + std::to_string(group.count + 1); };
    while (std::ranges::find(roles, next()) != roles.end()) ++group.count;
    groups.push_back(std::move(group));
  }
  return groups;
}

json to_json(const JobFacts& job) {
  return {{"roles", job.roles},
          {"groups", list_of(job.groups)},
          {"reference", job.reference},
          {"default_gates", list_of(job.default_gates)},
          {"held_models", list_of(job.held_models)}};
}

JobFacts job_facts_from_json(const json& value, const std::string& where) {
  try {
    JobFacts job;
    job.default_gates.clear();
    value.at("roles").get_to(job.roles);
    value.at("reference").get_to(job.reference);
    for (const json& group : value.at("groups"))
      job.groups.push_back({group.at("name"), group.at("count")});
    for (const json& row : value.at("default_gates"))
      job.default_gates.push_back({row.at("role"), row.at("metric")});
    for (const json& held : value.at("held_models"))
      job.held_models.push_back(
          {held.at("role"), held.at("metric"), held.at("copies"), held.at("what")});
    return job;
  } catch (const json::exception& error) {
    throw Error(ExitCode::io, "what is known of the job is damaged: " + reason_of(error), where);
  }
}

}  // namespace memduel
