// Which role each process of a trial belongs to.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "memory/proc_files.h"
#include "trial/marks.h"
#include "trial/trial_plan.h"

namespace memduel {

/// What decides a process's role; read from /proc, or a test's.
struct ProcessOrigin {
  pid_t parent = 0;
  std::optional<std::string> marked_role;          ///< MEMDUEL_ROLE of its environment
  std::string command;                             ///< its arguments, joined by spaces
  std::optional<ProcessLine> line = std::nullopt;  ///< as it was when the others were read
};

struct Member {
  std::string role;
  pid_t pid = 0;
  /// Of one that matches: the role that it would be of if it did not.
  std::string otherwise = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// A descendant is of the role whose match it meets; else of its parent's role; else, when its
/// parent is gone, of the role that its environment names. A process that executes another program
/// may come to match; one that matched only by the arguments of the parent that forked it may cease
/// to, or match another role.
class RoleMembers {
 public:
  /// @param before what was read of the process earlier; null: read everything.
  using OriginOf = std::function<ProcessOrigin(pid_t, const ProcessOrigin* before)>;
  using ListensOn = std::function<bool(pid_t, int port)>;

  /// Throws Error(usage) for a pattern that is none.
  explicit RoleMembers(const std::vector<RoleMatch>& match, OriginOf origin_of = read_origin,
                       ListensOn listens_on = is_listening);

  /// A process that memduel started itself: it keeps its role.
  void add_root(const std::string& role, pid_t pid);

  /// Takes the processes that live now. Returns those that are new, came to match or ceased to,
  /// parents before their children. A process executes programs soon after it was forked, or
  /// seldom: it is read again after a twentieth of the time for which it has been as it is.
  /// @param all whether to read every process that may come to match.
  std::vector<Member> update(const std::vector<pid_t>& living, std::int64_t now_ns, bool all);

  /// Every process that matched, also one that ended, and its descendants, with their role.
  [[nodiscard]] const std::map<pid_t, std::string>& matched() const { return matched_; }
  /// Matches with a count of which more processes lived at once. The surplus has its parent's role.
  [[nodiscard]] const std::set<std::string>& exceeded() const { return exceeded_; }

  static ProcessOrigin read_origin(pid_t pid, const ProcessOrigin* before);
  /// Whether it holds a socket that listens on the TCP port.
  static bool is_listening(pid_t pid, int port);

 private:
  struct Rule {
    RoleMatch match;
    LogPattern pattern;
  };
  struct Known {
    std::string role;
    bool is_root = false;
    bool is_matched = false;
    /// Its parent's arguments match, and it has executed no program of its own yet.
    bool has_inherited_match = false;
    std::vector<std::string> ancestors = {};  // NOLINT(readability-redundant-member-init): -Wextra
    ProcessOrigin origin = {};                // NOLINT(readability-redundant-member-init): -Wextra
    std::int64_t since_ns = 0;                ///< it was seen to have these arguments
    std::int64_t read_ns = 0;                 ///< they were read
    std::int64_t due_ns = 0;                  ///< it is read again
  };

  /// The role that `now` matches; absent: none.
  std::optional<std::string> role_by_match(pid_t pid, const ProcessOrigin& origin, const Known& now,
                                           const Known* before);
  [[nodiscard]] bool is_taken(const std::string& role) const;
  [[nodiscard]] bool has_arguments_of_parent(const ProcessOrigin& origin) const;
  ProcessOrigin look_at(pid_t pid, Known* known, std::int64_t now_ns) const;

  std::vector<Rule> rules_;
  OriginOf origin_of_;
  ListensOn listens_on_;
  std::map<pid_t, Known> known_;
  std::map<pid_t, std::string> matched_;
  std::set<std::string> exceeded_;
};

}  // namespace memduel
