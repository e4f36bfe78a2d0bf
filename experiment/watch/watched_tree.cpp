#include "experiment/watch/watched_tree.h"

#include <algorithm>

namespace memduel {

WatchedTree::WatchedTree()
    : role_members_({}, [this](pid_t pid) {
        const auto parent = parents_.find(pid);
        return ProcessOrigin{parent == parents_.end() ? 0 : parent->second, std::nullopt, {}};
      }) {}

void WatchedTree::add_root(const std::string& role, const ProcessLine& process) {
  role_members_.add_root(role, process.pid);
  started_[process.pid] = process.started;
  roles_[process.pid] = role;
  by_role_[role].push_back(process.pid);
}

WatchedTree::Root WatchedTree::look_at_root(pid_t pid,
                                            const std::optional<ProcessLine>& now) const {
  const auto known = started_.find(pid);
  if (known == started_.end() || !now) return Root::ended;
  if (now->started != known->second) return Root::replaced;
  return is_dead(*now) ? Root::ended : Root::lives;
}

std::vector<Member> WatchedTree::update(const std::vector<ProcessLine>& processes, pid_t self) {
  parents_.clear();
  std::vector<const ProcessLine*> living;
  for (const ProcessLine& process : processes) {
    const auto known = started_.find(process.pid);
    const bool replaced = known != started_.end() && known->second != process.started;
    // One that got the number of a member is looked at next time, when the member is forgotten.
    if (is_dead(process) || replaced || process.pid == self) continue;
    living.push_back(&process);
    parents_[process.pid] = process.parent;
  }
  // A parent started before its children.
  std::ranges::sort(living, [](const ProcessLine* a, const ProcessLine* b) {
    return a->started != b->started ? a->started < b->started : a->pid < b->pid;
  });
  std::vector<pid_t> pids;
  for (const ProcessLine* process : living) pids.push_back(process->pid);
  std::vector<Member> joined = role_members_.update(pids);
  const auto ended = [&](const auto& entry) { return !parents_.contains(entry.first); };
  std::erase_if(started_, ended);
  std::erase_if(roles_, ended);
  for (const Member& member : joined) roles_[member.pid] = member.role;
  for (const ProcessLine* process : living)
    if (roles_.contains(process->pid)) started_[process->pid] = process->started;
  by_role_.clear();
  for (const pid_t pid : pids) {
    const auto role = roles_.find(pid);
    if (role != roles_.end()) by_role_[role->second].push_back(pid);
  }
  return joined;
}

}  // namespace memduel
