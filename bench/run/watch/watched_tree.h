// Whom a watch is about: a command or processes that were there already, and who descends from
// them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "experiment/trial/pace.h"
#include "experiment/trial/role_memory.h"
#include "experiment/watch/watched_role.h"
#include "experiment/watch/watched_tree.h"
#include "profilers/meters/thinned_series.h"

namespace memduel {

struct WatchedRoot {
  pid_t pid = 0;
  std::string name;  ///< for people: "pid 812 (python3 train.py)"
  WatchedRole role;
  RoleMemory memory;
  ThinnedSeries pss;
  std::vector<RoundData> pending;  ///< rounds that are not in the store yet
  std::optional<ExitRecord> exit;
  bool ended = false;
};

class WatchedRoots {
 public:
  explicit WatchedRoots(std::int64_t begin_ns);

  /// @param knows_idle see WatchedRole.
  void add(const ProcessLine& process, const std::string& role, const std::string& name,
           bool knows_idle);

  [[nodiscard]] std::deque<WatchedRoot>& all() { return roots_; }
  [[nodiscard]] const std::deque<WatchedRoot>& all() const { return roots_; }
  /// Of those that have not ended.
  [[nodiscard]] std::size_t living() const;
  /// Living members of a role when it was looked last, its root first.
  [[nodiscard]] const std::vector<pid_t>& members(const std::string& role) {
    return tree_.members(role);
  }

  /// New descendants. All of /proc is read, which takes milliseconds where there are many
  /// processes: as often as its share of the time allows.
  std::vector<Member> find_members(std::int64_t now_ns);
  /// The roots that are no longer there, as /proc says.
  struct Gone {
    WatchedRoot& root;
    bool replaced = false;  ///< its number is another process's by now
  };
  [[nodiscard]] std::vector<Gone> gone();
  /// Descendants of a role whose root has ended, looked for once more.
  std::size_t left_of(const std::string& role);

 private:
  std::int64_t begin_ns_;
  std::deque<WatchedRoot> roots_;
  WatchedTree tree_;
  CostlyReadings scans_;
};

}  // namespace memduel
