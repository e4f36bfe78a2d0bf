// Which role each process of a trial belongs to.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/contract/trial_plan.h"
#include "experiment/marks/log_pattern.h"

namespace memduel {

/// What tells a process's role; read from /proc, or a test's.
struct ProcessOrigin {
  pid_t parent = 0;
  std::optional<std::string> marked_role;  ///< MEMDUEL_ROLE of its environment
  std::string command;                     ///< its arguments, joined by spaces
};

struct Member {
  std::string role;
  pid_t pid = 0;
  /// Of one that matches: the role that it would be of if it did not.
  std::string otherwise = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// A descendant is of the role whose pattern its arguments match; else of its parent's role; else,
/// when its parent is gone, of the role that its environment names. A process that executes another
/// program may come to match.
class RoleMembers {
 public:
  /// Throws Error(usage) for a pattern that is none.
  explicit RoleMembers(const std::vector<RoleMatch>& match,
                       std::function<ProcessOrigin(pid_t)> origin_of = read_origin);

  /// A process that memduel started itself: it keeps its role.
  void add_root(const std::string& role, pid_t pid);

  /// Takes the processes that live now. Returns those that are new or came to match, parents before
  /// their children.
  std::vector<Member> update(const std::vector<pid_t>& living);

  /// Every process that ever matched, and its descendants, with their role.
  [[nodiscard]] const std::map<pid_t, std::string>& matched() const { return matched_; }

  static ProcessOrigin read_origin(pid_t pid);

 private:
  struct Pattern {
    std::string role;
    LogPattern pattern;
  };
  struct Known {
    std::string role;
    bool is_root = false;
    bool is_matched = false;
  };
  [[nodiscard]] const std::string* matching(const std::string& command) const;

  std::vector<Pattern> patterns_;
  std::function<ProcessOrigin(pid_t)> origin_of_;
  std::map<pid_t, Known> known_;
  std::map<pid_t, std::string> matched_;
};

}  // namespace memduel
