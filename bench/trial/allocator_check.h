// Whether the processes of a trial ran under the allocator that the arm names. What the witness
// wrote inside them decides, after the trial; docs/allocators.md has what it cannot see.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "recorder/witness_log.h"
#include "trial/trial_plan.h"
#include "trial_processes.h"
#include "trial_result.h"

namespace memduel {

struct AllocatorFindings {
  std::string failure;            ///< what is wrong, about the role; empty: verified
  std::string library;            ///< the file that malloc of the role's own process came from
  std::set<std::string> helpers;  ///< descendants without it that count for nothing, and why
};

/// The role's own process, for messages about it.
struct OwnProcess {
  pid_t pid = 0;
  std::string program;  ///< as argv names it
  std::string path;     ///< PATH, where programs without a slash are looked up
};

/// Every image that the witness was in must have its malloc from the arm's allocator, and the last
/// image of the role's own process must be one of them. A descendant that was executed in a cleaned
/// environment is a failure, too; one that no preload can enter (statically linked, setuid), or
/// that was killed at once, is a helper.
AllocatorFindings judge_allocator(const RequiredAllocator& required, const OwnProcess& own,
                                  const WitnessLog& log);

/// By what was written inside them, once they are all gone. What is wrong fails the trial.
void verify_allocators(const TrialPlan& plan, const TrialProcesses& processes,
                       TrialOutcome& outcome);

}  // namespace memduel
