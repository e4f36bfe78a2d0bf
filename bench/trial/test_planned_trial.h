// A plan with logs of its own, for tests of what a trial is made of.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "trial_processes.h"
#include "util/file.h"

namespace memduel {

/// A trial of processes that are never started: a test says which of them run, and what time it is.
class PlannedTrial : public testing::Test {
 protected:
  using State = SupervisedProcess::State;

  /// A process of the plan; to be called before `begin`.
  ProcessSpec& plan_process(const std::string& role, End end = End::wait) {
    ProcessSpec& spec = plan_.processes.emplace_back();
    spec.role = role;
    spec.argv = {role};
    spec.end = end;
    return spec;
  }

  TrialProcesses& begin() {
    plan_.id = 1;
    plan_.trial_dir = scratch_.path();
    plan_.log_dir = scratch_.path();
    processes_.emplace(
        plan_,
        [this] {
          const std::int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
          while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < look_ns_) {
          }
          const auto living = living_;
          if (then_living_) living_ = std::exchange(then_living_, std::nullopt);
          return living;
        },
        [this](const std::string& role, pid_t pid) {
          joined_.push_back(role + " " + std::to_string(pid));
        },
        [this](pid_t pid, const ProcessOrigin*) { return origins_[pid]; });
    return *processes_;
  }

  SupervisedProcess& run(const std::string& role, pid_t pid) {
    SupervisedProcess& process = processes_->named(role);
    process.state = State::running;
    processes_->runs_as(process, pid);
    return process;
  }

  TrialPlan plan_;
  std::optional<std::vector<pid_t>> living_ = std::vector<pid_t>{};
  std::optional<std::vector<pid_t>> then_living_;  ///< after the next look, if anything
  std::int64_t look_ns_ = 0;                       ///< CPU time that the list of the living takes
  std::map<pid_t, ProcessOrigin> origins_;
  std::vector<std::string> joined_;  ///< "server 10", as they were told
  std::optional<TrialProcesses> processes_;

 private:
  ScratchDirectory scratch_{testing::TempDir(), "planned-trial"};
};

}  // namespace memduel
