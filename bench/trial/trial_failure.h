// Why a trial failed: what the end of a process means for it, what is said of a trial that has not
// ended in its time, and the last lines of a log.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "trial/trial_plan.h"
#include "trial/trial_trace.h"
#include "trial_processes.h"

namespace memduel {

/// The last `max_lines` lines of a file, at most `max_bytes` from its end, as valid UTF-8; control
/// bytes other than newline and tab become '?'. Empty when the file is empty or missing.
std::string log_tail(const std::filesystem::path& path, std::size_t max_lines = 10,
                     std::size_t max_bytes = 4096);

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

/// Who is still there, what each said last, and what to do about one that nobody ends.
std::string describe_overrun(const TrialPlan& plan, const std::deque<SupervisedProcess>& processes);

}  // namespace memduel
