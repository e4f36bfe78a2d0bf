// What a watched run says about itself: its config, which names what was watched, and its
// environment.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "experiment/store/store.h"
#include "experiment/watch/watch.h"
#include "memory/memory_limit.h"

namespace memduel {

/// The one arm of a watched run.
inline constexpr const char* kWatchArm = "watch";

struct WatchTarget {
  std::string role;
  std::vector<std::string> argv;
  std::optional<pid_t> pid;                             ///< of one that was there already
  std::optional<double> seconds_before = std::nullopt;  ///< that it had run when the watch began
};

/// The role "command", or "command-1" and so on of several processes.
std::vector<WatchTarget> watch_targets(const WatchOptions& options);

/// For people: "python3 train.py", "pid 812 (python3 train.py)".
std::string name_of(const WatchTarget& target);

RunHeader watch_header(const WatchOptions& options, const std::vector<WatchTarget>& targets,
                       const std::optional<MemoryLimit>& limit);

/// The command line of a process as it is now: it changes when the process executes another
/// program. Empty for one that has ended.
std::vector<std::string> command_line_of(pid_t pid);

/// What a watched run says of what it measures.
nlohmann::json watch_config(const WatchOptions& options, const std::vector<WatchTarget>& targets);

/// How long `pid` has run; absent when it is gone.
std::optional<double> age_seconds(pid_t pid);

}  // namespace memduel
