// After the last block: every arm once more under each tracer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/run/trial_runner.h"

namespace memduel {

class ProfileTrials {
 public:
  /// Chooses the tracers of the config that are here, and notes those that are missing. Both must
  /// outlive this.
  ProfileTrials(RunInProgress& run, TrialRunner& runner);

  /// How many times every arm runs once more.
  [[nodiscard]] int rounds() const;
  /// What the store lacks of them; a failed gate asks for the recorder in any case. They are of no
  /// block. The blocks leave time for them.
  void run();

 private:
  [[nodiscard]] int trials_of_config() const;
  void run_by(const std::string& tracer, const std::function<int(const Arm&)>& wanted);

  RunInProgress& run_;
  TrialRunner& runner_;
  std::vector<std::string> tracers_;
};

}  // namespace memduel
