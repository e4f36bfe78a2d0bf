// A command that is watched, started as a shell would start it, so that nothing but its marks and,
// where asked for, its output is different, and never stopped by us; and the signals that a watch
// waits for.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trial/marks.h"
#include "trial/trial_trace.h"
#include "util/file.h"

namespace memduel {

/// Files that its output goes to.
struct OutputFiles {
  std::filesystem::path standard_output;
  std::filesystem::path standard_error;
};

class WatchedCommand {
 public:
  /// Makes the output files. Its descendants whose parents end become children of this process
  /// (PR_SET_CHILD_SUBREAPER), so that they can be found. The command runs with no signal blocked.
  /// Throws Error(usage) when it cannot be executed, Error(io) when a file cannot be made.
  WatchedCommand(const std::vector<std::string>& argv, const std::optional<OutputFiles>& output);

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;

  /// Takes in every child that has ended; how the command ended, once it has.
  std::optional<ExitRecord> reap();

  RoleMarks marks;

 private:
  pid_t pid_ = 0;
  std::int64_t largest_before_bytes_ = 0;  ///< of us, which the kernel counts for it
  std::optional<ExitRecord> exit_;
};

/// SIGCHLD, SIGTERM, and the others that people send, where they are not ignored already (nohup).
/// The rest of the process gets them back at the end. A reader of our output that went away is no
/// reason to end: SIGPIPE is ignored meanwhile.
class WatchSignals {
 public:
  WatchSignals();
  WatchSignals(const WatchSignals&) = delete;
  WatchSignals& operator=(const WatchSignals&) = delete;
  ~WatchSignals();

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// The next one that has arrived.
  std::optional<int> next();

 private:
  sigset_t before_{};
  void (*pipe_before_)(int) = nullptr;
  Descriptor descriptor_;
};

}  // namespace memduel
