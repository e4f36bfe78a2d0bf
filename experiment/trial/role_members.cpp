#include "experiment/trial/role_members.h"

#include <algorithm>

#include "experiment/trial/launcher/process_tree.h"
#include "experiment/trial/launcher/protocol.h"

namespace memduel {

RoleMembers::RoleMembers(const std::vector<RoleMatch>& match,
                         std::function<ProcessOrigin(pid_t)> origin_of)
    : origin_of_(std::move(origin_of)) {
  for (const RoleMatch& each : match) patterns_.push_back({each.role, LogPattern(each.pattern)});
}

void RoleMembers::add_root(const std::string& role, pid_t pid) {
  known_[pid] = {role, true, false};
}

const std::string* RoleMembers::matching(const std::string& command) const {
  const auto found = std::ranges::find_if(
      patterns_, [&](const Pattern& each) { return each.pattern.matches(command); });
  return found == patterns_.end() ? nullptr : &found->role;
}

std::vector<Member> RoleMembers::update(const std::vector<pid_t>& living) {
  // The number of a process that ended may come back as another.
  std::erase_if(known_, [&](const auto& entry) {
    return std::ranges::find(living, entry.first) == living.end();
  });
  std::vector<Member> changed;
  for (const pid_t pid : living) {
    const auto before = known_.find(pid);
    const bool settled = before != known_.end() &&
                         (before->second.is_root || before->second.is_matched || patterns_.empty());
    if (settled) continue;
    const ProcessOrigin origin = origin_of_(pid);
    const std::string* match = matching(origin.command);
    if (match == nullptr && before != known_.end()) continue;
    const auto parent = known_.find(origin.parent);
    Known now;
    std::string otherwise;
    if (match != nullptr) {
      otherwise = parent != known_.end() ? parent->second.role : origin.marked_role.value_or("");
      now = {*match, false, true};
      matched_[pid] = *match;
    } else if (parent != known_.end()) {
      now.role = parent->second.role;
      if (matched_.contains(origin.parent)) matched_[pid] = now.role;
    } else if (origin.marked_role) {
      now.role = *origin.marked_role;
    } else {
      continue;
    }
    known_[pid] = now;
    changed.push_back({now.role, pid, otherwise});
  }
  return changed;
}

ProcessOrigin RoleMembers::read_origin(pid_t pid) {
  constexpr std::size_t kLongestCommand = 128 * 1024;
  ProcessOrigin origin;
  if (const auto line = process_line(pid)) origin.parent = line->parent;
  origin.marked_role = environment_of(pid, kRoleVariable);
  origin.command = command_of(pid, kLongestCommand);
  return origin;
}

}  // namespace memduel
