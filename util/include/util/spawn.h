// Starting a program: the one place that forks, executes, and learns whether the program runs. The
// launcher includes this: no dependency but the C++ library.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memduel {

struct SpawnOptions {
  /// arguments[0] is looked up in the new PATH unless it has a slash.
  std::vector<std::string> arguments;
  /// Changes to the caller's own: NAME=VALUE, or NAME to go without it.
  std::vector<std::string> environment;
  std::string directory;  ///< empty: the caller's
  /// The caller's descriptors and the numbers that the program gets them by; a negative one leaves
  /// the number what it is.
  std::vector<std::pair<int, int>> descriptors;
  const sigset_t* blocked = nullptr;  ///< signals that the program starts with blocked; null: none
  /// It gets a process group of its own, so that a program that signals its group reaches no other,
  /// and the kernel kills it when the thread that started it ends.
  bool is_contained = false;
  /// The directory of a control group of version 2 that it starts in; empty: the caller's.
  std::string group;
  std::vector<std::string> groups;  ///< the cgroup.procs of control groups that it joins
  std::uint64_t data_limit = 0;     ///< RLIMIT_DATA in bytes; 0: the caller's
};

/// What can fail, in this order.
enum class SpawnStep {
  make_process,
  join_groups,
  connect_descriptors,
  enter_directory,
  limit_data,
  execute
};

struct SpawnResult {
  pid_t pid = 0;              ///< 0 when the program could not be started
  std::int64_t begin_ns = 0;  ///< CLOCK_MONOTONIC right before the program was executed
  SpawnStep failed = {};
  int error_number = 0;  ///< why
};

/// Forks, executes and returns once the program runs or could not; SIGPIPE kills it as it would any
/// program. Threads may call it at once: the child does only what is safe between fork and exec.
SpawnResult spawn(const SpawnOptions& options);

}  // namespace memduel
