#include "model/job_facts.h"

#include <algorithm>
#include <charconv>

#include "util/json.h"

namespace memduel {

MetricInfo metric_info(const JobFacts& job, std::string_view name) {
  MetricInfo info = metric_info(name);
  const auto declared = job.better.find(std::string(name));
  if (!is_known_metric(name) && declared != job.better.end()) info.better = declared->second;
  return info;
}

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

std::string role_words(const JobFacts& job, std::string_view role) {
  if (const auto group = group_role(job, role))
    return (group->is_median ? "median " : "largest ") + group->group->name;
  return role == kTree ? "all processes" : std::string(role);
}

bool is_median_of_group(const JobFacts& job, std::string_view role) {
  const auto group = group_role(job, role);
  return group && group->is_median;
}

bool is_member(const JobFacts& job, std::string_view role) {
  return std::ranges::any_of(job.groups, [&](const RoleGroup& group) { return group.has(role); });
}

bool is_about(const JobFacts& job, std::string_view asked, std::string_view role) {
  if (asked == role || asked == kTree) return true;
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

nlohmann::json to_json(const JobFacts& job) {
  return written(job);
}

JobFacts job_facts_from_json(const nlohmann::json& value, const std::string& where) {
  return read_value<JobFacts>(JsonReader(value, where));
}

}  // namespace memduel
