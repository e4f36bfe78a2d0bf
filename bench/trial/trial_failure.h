// What the end of a process means for its trial. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "experiment/contract/trial_plan.h"
#include "experiment/contract/trial_trace.h"

namespace memduel {

/// How far a process had come when it ended.
struct ExitContext {
  bool was_ready = false;
  bool asked_to_stop = false;      ///< we had sent SIGTERM
  bool killed_for_memory = false;  ///< the kernel counted a kill for memory in the trial
  std::optional<int> round;        ///< the round that was running
  std::string waited_for;          ///< its readiness condition
  bool after_last_round =
      false;  ///< we had sent SIGTERM because the last round that counts was over
};

/// An allowed status after it was ready; once asked to stop also SIGTERM, SIGKILL and 128 +
/// SIGTERM, which shells and Python report for it. In the middle of a job that is stopped after its
/// last round any status is what losing the others looks like.
bool ended_well(const ProcessSpec& spec, const ExitRecord& exit, const ExitContext& context);

/// "exited with status 3 in round 4", without the role's name.
std::string describe_exit(const ExitRecord& exit, const ExitContext& context);

}  // namespace memduel
