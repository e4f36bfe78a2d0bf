#include "experiment/watch/watched_roots.h"

#include <unistd.h>

#include <algorithm>

#include "experiment/marks/monotonic.h"

namespace memduel {
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
