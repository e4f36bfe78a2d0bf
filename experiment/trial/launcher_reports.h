// What the launcher reports of a trial's processes, as values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "experiment/contract/trial_trace.h"

namespace memduel {

struct Spawned {
  std::string role;
  pid_t pid = 0;
  std::int64_t begin_ns = 0;
};

struct Unstarted {
  std::string role;
  std::string step;  ///< what failed, for people
  int error = 0;     ///< an errno value
};

struct Exited {
  std::string role;
  ExitRecord record;
};

/// A process that no role was started as, and that its own parent did not wait for.
struct Reaped {
  pid_t pid = 0;
  std::int64_t max_rss_bytes = 0;  ///< of the process and of children it waited for
};

struct Escaped {
  std::string process;  ///< that had left the trial's tree and was killed: "812 (sleep)"
};

/// All processes are gone, or cannot be killed.
struct LauncherEnded {
  double cpu_seconds = 0;  ///< of the launcher itself
  int left_over = 0;       ///< processes that the roles had left behind
  int survivors = 0;
  std::optional<std::int64_t> peak_cgroup_bytes;
};

using LauncherReport = std::variant<Spawned, Unstarted, Exited, Reaped, Escaped, LauncherEnded>;

/// The fields of a packet (launcher/protocol.h); absent for a name that is none of these.
std::optional<LauncherReport> read_report(const std::vector<std::string>& fields);

}  // namespace memduel
