#include "watched_tree.h"

#include <unistd.h>

#include <algorithm>

#include "trial/processes.h"

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

namespace {

/// Of PSS, which is read once a minute.
constexpr std::size_t kRootPssPoints = 2048;
/// For looking at /proc, as if the watch had gone on so long: jobs start their processes early.
constexpr std::int64_t kHeadStart = 30 * kSecondNs;

}  // namespace

WatchedRoots::WatchedRoots(std::int64_t begin_ns)
    : begin_ns_(begin_ns), scans_(begin_ns - kHeadStart, false) {}

void WatchedRoots::add(const ProcessLine& process, const std::string& role, const std::string& name,
                       bool knows_idle) {
  roots_.push_back({process.pid,
                    name,
                    WatchedRole(role, begin_ns_, knows_idle),
                    {},
                    ThinnedSeries("pss_bytes", kRootPssPoints),
                    {},
                    std::nullopt,
                    false});
  tree_.add_root(role, process);
}

std::size_t WatchedRoots::living() const {
  return static_cast<std::size_t>(std::ranges::count(roots_, false, &WatchedRoot::ended));
}

std::vector<Member> WatchedRoots::find_members(std::int64_t now_ns) {
  if (!scans_.affordable(now_ns)) return {};
  const std::int64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const std::vector<Member> found = tree_.update(all_processes(), getpid());
  for (const Member& member : found) {
    for (WatchedRoot& root : roots_) {
      if (root.role.role() == member.role) root.role.has_several_processes();
    }
  }
  scans_.spent(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before);
  return found;
}

std::vector<WatchedRoots::Gone> WatchedRoots::gone() {
  std::vector<Gone> found;
  for (WatchedRoot& root : roots_) {
    if (root.ended) continue;
    const auto state = tree_.look_at_root(root.pid, process_line(root.pid));
    if (state != WatchedTree::Root::lives)
      found.push_back({root, state == WatchedTree::Root::replaced});
  }
  return found;
}

std::size_t WatchedRoots::left_of(const std::string& role) {
  tree_.update(all_processes(), getpid());
  return tree_.members(role).size();
}

}  // namespace memduel
