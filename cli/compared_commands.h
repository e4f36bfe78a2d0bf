// Commands of a command line as the experiment that somebody would write for them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace memduel::cli {

/// What --ignore-failure is without a value.
inline constexpr const char* kAllStatuses = "true";

struct ComparedCommands {
  std::string baseline;
  // NOLINTBEGIN(readability-redundant-member-init): -Wextra
  std::vector<std::string> candidates = {};  ///< one or more; none where parameters are scanned
  std::vector<std::string> names = {};    ///< of the baseline, then of the candidates; may be fewer
  std::vector<std::string> scans = {};    ///< NAME=VALUE,VALUE,…: {NAME} in the baseline's command
  std::vector<std::string> prepare = {};  ///< commands before each trial
  /// Exit statuses that are as good as 0: "1,2", or kAllStatuses.
  std::string ignored_statuses = {};
  // NOLINTEND(readability-redundant-member-init)
  bool shell = false;      ///< hand each to /bin/sh -c
  bool calibrate = false;  ///< the last candidate may be the baseline again
};

/// One process with an arm for each command, or for each combination of the parameters' values.
/// Throws Error(usage) naming the option and what was found.
nlohmann::json experiment_of(const ComparedCommands& commands);

}  // namespace memduel::cli
