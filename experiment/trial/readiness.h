// When a started process counts as ready: a listening port, a log line, a file, a delay.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiment/contract/trial_plan.h"

namespace memduel {

/// One process's readiness, asked again and again until it is met.
class Readiness {
 public:
  /// @param logs files that `log_pattern` is looked for in.
  /// Throws Error(usage) when log_pattern is no PCRE2 pattern.
  Readiness(const Ready& ready, std::vector<std::filesystem::path> logs);
  ~Readiness();

  /// `processes` are the role's: only a port that one of them holds counts.
  bool met(std::int64_t now_ns, const std::vector<pid_t>& processes);

  /// What it waits for, for people; names the process that holds the port in its place.
  [[nodiscard]] std::string describe() const;

 private:
  struct LogSearch;
  bool condition_met(const std::vector<pid_t>& processes);
  bool port_is_open(const std::vector<pid_t>& processes);

  Ready ready_;
  std::unique_ptr<LogSearch> log_search_;
  bool port_held_by_another_ = false;
  std::int64_t condition_met_ns_ = 0;
};

}  // namespace memduel
