// The processes that descend from those that are watched.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/trial/launcher/process_tree.h"
#include "experiment/trial/role_members.h"

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

}  // namespace memduel
