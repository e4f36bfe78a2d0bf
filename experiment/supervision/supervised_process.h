// One process of a running trial, as the supervisor sees it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/contract/trial_plan.h"
#include "experiment/contract/trial_trace.h"
#include "experiment/marks/role_marks.h"
#include "experiment/trial/readiness.h"

namespace memduel {

class SupervisedProcess {
 public:
  enum class State { waiting, starting, running, ended };

  /// Makes the log files. Throws Error(io) when that fails, Error(usage) for a bad log pattern.
  SupervisedProcess(const ProcessSpec& spec, const TrialPlan& plan);

  [[nodiscard]] const ProcessSpec& spec() const { return *spec_; }
  [[nodiscard]] const std::string& role() const { return spec_->role; }

  /// The launcher request that starts it and the descriptors that go with it.
  [[nodiscard]] std::vector<std::string> spawn_request() const;
  [[nodiscard]] std::vector<int> spawn_descriptors();
  /// The descriptors were handed over.
  void release_descriptors();

  /// Last lines of its stderr, or of its stdout when that is empty, indented for a message.
  [[nodiscard]] std::string last_words() const;
  /// Since it last wrote to its standard output or error; absent when it never did.
  [[nodiscard]] std::optional<double> silent_seconds() const;

  State state = State::waiting;
  pid_t pid = 0;
  std::vector<pid_t> members;  ///< pid and its descendants as they are found
  bool is_ready = false;
  bool asked_to_stop = false;
  bool has_other_clock = false;  ///< its marks were outside the trial
  /// Its own process has ended and left the work to one of its members.
  bool is_daemon = false;
  std::int64_t started_ns = 0;
  std::optional<int> running_round;
  std::optional<Readiness> readiness;
  RoleMarks marks;
  RoleTrace trace;

 private:
  const ProcessSpec* spec_;
  std::filesystem::path cwd_;
  std::filesystem::path stdout_path_;
  std::filesystem::path stderr_path_;
  Descriptor stdout_;
  Descriptor stderr_;
};

}  // namespace memduel
