// A command that is watched, started as a shell would start it, so that nothing but its marks and,
// where asked for, its output is different, and never stopped by us.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "trial/trial_trace.h"
#include "trial_processes.h"

namespace memduel {

class WatchedCommand {
 public:
  /// Its descendants whose parents end become children of this process (PR_SET_CHILD_SUBREAPER), so
  /// that they can be found. Throws Error(usage) when it cannot be executed, Error(io) when no
  /// process can be made.
  explicit WatchedCommand(SupervisedProcess& process);

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;

  /// Takes in every child that has ended; how the command ended, once it has.
  std::optional<ExitRecord> reap();

 private:
  pid_t pid_ = 0;
  std::int64_t largest_before_bytes_ = 0;  ///< of us, which the kernel counts for it
  std::optional<ExitRecord> exit_;
};

}  // namespace memduel
