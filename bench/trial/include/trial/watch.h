// A watch follows processes that run already, or a command that is started as a shell would start
// it, with their descendants, to their end. It is a job's loop (job_loop.h) as a trial's is; what
// it finds goes to a screen and, now and then, to a sink.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/memory_limit.h"
#include "model/run_data.h"
#include "model/watch_snapshot.h"

namespace memduel {

struct WatchOptions {
  std::vector<std::string> command;  ///< or
  std::vector<pid_t> pids;           ///< one of both
  std::filesystem::path directory;
  double interval_seconds = 1;       ///< of RSS
  double pss_interval_seconds = 60;  ///< where its share of the time allows
  std::optional<double> duration_seconds;
  std::optional<std::string> round_pattern;  ///< see TextMarkPattern
  std::vector<std::filesystem::path>
      logs;                        ///< in which it is looked for; else the command's output
  std::vector<std::string> gates;  ///< ceilings, judged when the watch is over
  double warn_ratio = 0.85;        ///< of the memory limit
  double critical_ratio = 0.90;
  /// The command's output goes to logs/ and is passed on, even without a pattern.
  bool captures_output = false;

  std::function<void(int target, std::string_view bytes)> pass_on;  ///< captured output
  std::function<void(const WatchSnapshot&)> show;
  double show_interval_seconds = 1;  ///< at least 1
  /// Now and then, from the first sample on.
  std::function<void(const WatchSnapshot&)> publish;
  std::function<void(const std::string&)> say =  ///< what happened, one sentence
      [](const std::string&) {};
};

struct WatchResult {
  /// The command's exit status or 128 + signal; of processes 0, or 128 + the signal that ended the
  /// watch.
  int status = 0;
  WatchSnapshot last;
};

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

/// Takes what a watch finds.
class WatchSink {
 public:
  WatchSink() = default;
  WatchSink(const WatchSink&) = delete;
  WatchSink& operator=(const WatchSink&) = delete;
  virtual ~WatchSink() = default;

  /// The one trial so far: rounds that ended since the last call, and all that else is known.
  virtual void grow(TrialData trial) = 0;
  /// One of the processes executed another program.
  virtual void rename(const std::vector<WatchTarget>& targets) = 0;
  virtual void add_limitation(const Note& note) = 0;
  virtual void add_warning(const Note& note) = 0;
};

/// Watches to the end: the command's, that of all processes, the duration's, or SIGINT, SIGTERM and
/// SIGHUP, which are a command's to handle. `targets` are watch_targets(options), `limit` is what
/// memory use is compared with. Throws Error(usage) for a command that cannot be executed,
/// Error(cannot_measure) when nothing was there to be measured, Error(io) when a log cannot be
/// made.
WatchResult watch_job(const WatchOptions& options, std::vector<WatchTarget> targets,
                      const std::optional<MemoryLimit>& limit, WatchSink& sink);

}  // namespace memduel
