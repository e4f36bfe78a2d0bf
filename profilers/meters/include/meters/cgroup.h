// A trial's own control group: kills all of its processes at once, says who was killed for memory
// and how much memory all of them together were charged.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace memduel {

/// Directories of one trial in up to two hierarchies; either may be empty.
struct TrialCgroup {
  std::string memory_dir;  ///< memory controller, v1 or v2
  std::string kill_dir;    ///< v2 hierarchy with cgroup.kill; may equal memory_dir

  [[nodiscard]] bool exists() const { return !memory_dir.empty() || !kill_dir.empty(); }
};

/// What the names of trials' groups begin with; the trial's name follows.
inline constexpr const char* kTrialCgroupPrefix = "memduel-";

/// Groups below the caller's own whose names begin with `prefix`, by the rest of their names.
std::map<std::string, TrialCgroup> cgroups_with_prefix(const std::string& prefix);

/// Makes groups named `name` below the caller's own where that is allowed; fields stay empty where
/// it is not.
TrialCgroup create_cgroup(const std::string& name);

/// The files of the group that list its processes, by which one that writes 0 there joins it.
std::vector<std::string> process_lists_of(const TrialCgroup& group);

/// Moves the calling process into the group. Returns 0 or an errno value.
int join_cgroup(const TrialCgroup& group);

/// Allows the group's processes `bytes` of memory together, and no swap where the kernel counts it.
/// Returns 0 or an errno value.
int limit_cgroup(const TrialCgroup& group, std::int64_t bytes);

/// Processes of the group, by their numbers.
std::vector<pid_t> processes_in(const TrialCgroup& group);

/// SIGKILL to every process in the group, once.
void kill_cgroup(const TrialCgroup& group);

/// The most memory that was ever charged to the group.
std::optional<std::int64_t> peak_bytes_of(const TrialCgroup& group);

/// Processes of the group that the kernel killed for memory.
std::optional<std::int64_t> oom_kills_of(const TrialCgroup& group);

/// Kernel-wide count of processes killed for memory, for trials without a group.
std::optional<std::int64_t> oom_kills_anywhere();

/// Removes the directories; they must be empty of processes.
void remove_cgroup(const TrialCgroup& group);

}  // namespace memduel
