// Watches a process tree while it runs, a command's or that of processes that are there already,
// and leaves a run with one arm and one trial: what the verb `watch` does.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/questions/watch_snapshot.h"

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
      logs;                  ///< in which it is looked for; else the command's output
  double warn_ratio = 0.85;  ///< of the memory limit
  double critical_ratio = 0.90;
  /// The command's output goes to logs/ and is passed on, even without a pattern.
  bool captures_output = false;

  std::function<void(int target, std::string_view bytes)> pass_on;  ///< captured output
  std::function<void(const WatchSnapshot&)> show;
  double show_interval_seconds = 1;              ///< at least 1
  std::function<void(const std::string&)> say =  ///< what happened, one sentence
      [](const std::string&) {};
};

struct WatchResult {
  /// The command's exit status or 128 + signal; of processes 0, or 128 + the signal that ended the
  /// watch.
  int status = 0;
  WatchSnapshot last;
};

/// Refuses what cannot be watched before anything is started or written. Throws Error(usage).
void check_watch(const WatchOptions& options);

/// Watches to the end: the command's, that of all processes, the duration's, or SIGINT, SIGTERM and
/// SIGHUP, which are a command's to handle. The run in `directory` is kept up to date meanwhile,
/// so that one that is cut off is there as far as it went. Throws Error(usage) for options that
/// check_watch refuses, and for a command that cannot be executed; Error(cannot_measure) when
/// nothing was there to be measured; Error(io) when the directory cannot be written.
WatchResult watch(const WatchOptions& options);

}  // namespace memduel
