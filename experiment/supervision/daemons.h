// Roles that put themselves into the background: their process ends at once, and another goes on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "experiment/supervision/trial_processes.h"

namespace memduel {

/// `processes` must outlive this.
class Daemons {
 public:
  explicit Daemons(TrialProcesses& processes) : processes_(processes) {}

  /// Whether a process that was expected to go on has ended well and left living descendants: then
  /// they are the role from now on.
  bool take_over(SupervisedProcess& process, const ExitRecord& record);

  /// Those of which no process lives any more: the launcher reports the ends of roles' own
  /// processes only.
  [[nodiscard]] std::vector<std::pair<SupervisedProcess*, ExitRecord>> ended(std::int64_t now_ns);

 private:
  TrialProcesses& processes_;
};

}  // namespace memduel
