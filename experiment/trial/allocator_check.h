// Whether the processes of a role ran under the allocator that their arm names. Decided by what the
// witness wrote inside them, which misses none however short it was; while they run also by what
// they have mapped, which does not need the witness's word and tells at once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/contract/trial_plan.h"
#include "profilers/witness/witness_log.h"

namespace memduel {

struct AllocatorFindings {
  std::string failure;            ///< what is wrong, about the role; empty: verified
  std::string library;            ///< the file that malloc of the role's own process came from
  std::set<std::string> helpers;  ///< descendants without it that count for nothing, and why
};

/// The role's own process, for messages about it.
struct OwnProcess {
  pid_t pid = 0;
  std::string program;  ///< as argv names it
  std::string path;     ///< PATH, where programs without a slash are looked up
};

/// Every image that the witness was in must have its malloc from the arm's allocator, and the last
/// image of the role's own process must be one of them. A descendant that was executed in a cleaned
/// environment is a failure, too; one that no preload can enter (statically linked, setuid), or
/// that was killed at once, is a helper.
AllocatorFindings judge_allocator(const RequiredAllocator& required, const OwnProcess& own,
                                  const WitnessLog& log);

/// Whether the text of /proc/PID/maps has the file of `library`, or where that is empty the dynamic
/// linker's, without which nothing could have been preloaded.
/// Absent for no text: a process that has ended, or that we may not read.
std::optional<bool> maps_library(std::string_view maps, const std::filesystem::path& library);

/// Looks at living processes from outside. A program that is being loaded goes without the library
/// for some microseconds, and a helper may do so for a second: kPatience looks.
class AllocatorWatch {
 public:
  static constexpr std::int64_t kLookInterval = 250'000'000;
  static constexpr int kPatience = 5;

  /// Whether it is time to look at all processes again.
  bool due(std::int64_t now_ns);

  /// What is wrong with process `pid`; nothing while it is well or too early to tell.
  std::optional<std::string> look(pid_t pid, const RequiredAllocator& required);

 private:
  struct Seen {
    std::string program;
    bool has_it = false;
    int looks_without = 0;
  };
  std::map<pid_t, Seen> seen_;
  std::int64_t due_ns_ = 0;
};

}  // namespace memduel
