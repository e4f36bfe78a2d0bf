// Whom a watch is about: a command or processes that were there already, and the processes that
// descend from them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "meters/meter.h"
#include "trial/processes.h"
#include "trial/sampling.h"
#include "watched_role.h"

namespace memduel {

/// A descendant counts for its parent's role and stays of it when its parent ends. A number that
/// came back as another process (it started at another time) is no longer of the tree.
class WatchedTree {
 public:
  WatchedTree();
  WatchedTree(const WatchedTree&) = delete;
  WatchedTree& operator=(const WatchedTree&) = delete;
  ~WatchedTree() = default;

  void add_root(const std::string& role, const ProcessLine& process);

  enum class Root { lives, ended, replaced };
  /// What became of a root, by what /proc says of its number now; absent: there is no such process.
  [[nodiscard]] Root look_at_root(pid_t pid, const std::optional<ProcessLine>& now) const;

  /// Takes all processes of the machine. Returns the new members. `self` and what it started
  /// besides the roots are never members.
  std::vector<Member> update(const std::vector<ProcessLine>& processes, pid_t self);

  /// Living members of a role at the last update, its root first.
  [[nodiscard]] const std::vector<pid_t>& members(const std::string& role) {
    return by_role_[role];
  }
  [[nodiscard]] std::size_t size() const { return started_.size(); }

 private:
  std::map<pid_t, pid_t> parents_;  ///< of the processes of one update
  std::map<pid_t, std::optional<std::uint64_t>> started_;
  std::map<pid_t, std::string> roles_;
  std::map<std::string, std::vector<pid_t>> by_role_;
  RoleMembers role_members_;
};

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
