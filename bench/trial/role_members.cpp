#include "role_members.h"

#include <algorithm>
#include <utility>

#include "memory/proc_files.h"
#include "trial/processes.h"

namespace memduel {
namespace {

/// Of a process that has long been as it is. Reading its line costs 10 us: a hundredth of a CPU for
/// all of them.
constexpr std::int64_t kLongestRest = kSecondNs / 10;
constexpr std::int64_t kRestPerProcess = kSecondNs / 1000;
constexpr std::int64_t kPartOfAge = 20;
/// A program may write a title over its own arguments, which its line does not show.
constexpr std::int64_t kRewritten = kSecondNs / 5;

}  // namespace

RoleMembers::RoleMembers(const std::vector<RoleMatch>& match, OriginOf origin_of,
                         ListensOn listens_on)
    : origin_of_(std::move(origin_of)), listens_on_(std::move(listens_on)) {
  for (const RoleMatch& each : match) rules_.push_back({each, LogPattern(each.pattern)});
}

void RoleMembers::add_root(const std::string& role, pid_t pid) {
  known_[pid] = {role, true};
}

bool RoleMembers::is_taken(const std::string& role) const {
  return std::ranges::any_of(known_, [&](const auto& entry) {
    return entry.second.is_matched && entry.second.role == role;
  });
}

bool RoleMembers::has_arguments_of_parent(const ProcessOrigin& origin) const {
  return origin_of_(origin.parent, nullptr).command == origin.command;
}

ProcessOrigin RoleMembers::look_at(pid_t pid, Known* known, std::int64_t now_ns) const {
  if (known == nullptr) return origin_of_(pid, nullptr);
  const bool is_stale = now_ns - known->read_ns >= kRewritten;
  ProcessOrigin origin = origin_of_(pid, is_stale ? nullptr : &known->origin);
  if (is_stale) known->read_ns = now_ns;
  if (origin.command != known->origin.command) known->since_ns = now_ns;
  known->origin = origin;
  const auto longest =
      std::max(kLongestRest, kRestPerProcess * static_cast<std::int64_t>(known_.size()));
  known->due_ns = now_ns + std::min((now_ns - known->since_ns) / kPartOfAge, longest);
  return origin;
}

std::optional<std::string> RoleMembers::role_by_match(pid_t pid, const ProcessOrigin& origin,
                                                      const Known& now, const Known* before) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const Rule& rule : rules_) {
    const RoleMatch& match = rule.match;
    if (match.ancestor && !has(now.ancestors, *match.ancestor)) continue;
    if (!rule.pattern.matches(origin.command)) continue;
    if (match.port && !listens_on_(pid, *match.port)) continue;
    if (!match.count) return match.role;
    const std::vector<std::string> roles = match.roles();
    if (before != nullptr && before->is_matched && has(roles, before->role)) return before->role;
    // A forked child counts for its parent, and takes no number while it may be about to execute
    // another program.
    const bool is_copy = has_arguments_of_parent(origin);
    if (is_copy && (before == nullptr || has(roles, now.role))) continue;
    const auto free =
        std::ranges::find_if_not(roles, [&](const std::string& role) { return is_taken(role); });
    if (free != roles.end()) return *free;
    exceeded_.insert(match.role);
  }
  return std::nullopt;
}

std::vector<Member> RoleMembers::update(const std::vector<pid_t>& living, std::int64_t now_ns,
                                        bool all) {
  // The number of a process that ended may come back as another.
  std::erase_if(known_, [&](const auto& entry) {
    return std::ranges::find(living, entry.first) == living.end();
  });
  std::vector<Member> changed;
  for (const pid_t pid : living) {
    const auto found = known_.find(pid);
    Known* before = found == known_.end() ? nullptr : &found->second;
    const bool has_inherited = before != nullptr && before->has_inherited_match;
    const bool is_settled = before != nullptr && (before->is_root || rules_.empty() ||
                                                  (before->is_matched && !has_inherited));
    if (is_settled || (before != nullptr && !all && now_ns < before->due_ns)) continue;
    const ProcessOrigin origin = look_at(pid, before, now_ns);
    if (before != nullptr && origin.command.empty()) continue;  // it has ended
    Known now;
    const auto parent = known_.find(origin.parent);
    if (parent != known_.end()) {
      now.role = parent->second.role;
      now.ancestors = parent->second.ancestors;
      now.ancestors.push_back(now.role);
    } else {
      now.role = origin.marked_role.value_or("");
      now.ancestors = before != nullptr ? before->ancestors : std::vector{now.role};
    }
    const auto match = role_by_match(pid, origin, now, before);
    const bool matches_as_before = has_inherited ? match == before->role : !match;
    if (before != nullptr && matches_as_before) {
      if (has_inherited) found->second.has_inherited_match = has_arguments_of_parent(origin);
      found->second.ancestors = std::move(now.ancestors);
      continue;
    }
    std::string otherwise;
    matched_.erase(pid);
    if (match) {
      otherwise = std::exchange(now.role, *match);
      now.is_matched = true;
      now.has_inherited_match = has_arguments_of_parent(origin);
      matched_[pid] = *match;
    } else if (now.role.empty()) {
      continue;
    } else if (parent != known_.end() && matched_.contains(origin.parent)) {
      matched_[pid] = now.role;
    }
    changed.push_back({now.role, pid, otherwise});
    now.origin = origin;
    now.since_ns = now.read_ns = now.due_ns = now_ns;
    known_[pid] = std::move(now);
  }
  return changed;
}

ProcessOrigin RoleMembers::read_origin(pid_t pid, const ProcessOrigin* before) {
  constexpr std::size_t kLongestCommand = 128 * 1024;
  ProcessOrigin origin;
  origin.line = process_line(pid);
  if (!origin.line) return origin;
  if (before != nullptr && before->line && runs_same_program(*before->line, *origin.line))
    return {origin.line->parent, before->marked_role, before->command, origin.line};
  origin.parent = origin.line->parent;
  origin.marked_role = environment_of(pid, kRoleVariable);
  origin.command = command_of(pid, kLongestCommand);
  return origin;
}

bool RoleMembers::is_listening(pid_t pid, int port) {
  const auto sockets = listening_sockets(port);
  return !sockets.empty() && holds_socket(pid, sockets);
}

}  // namespace memduel
