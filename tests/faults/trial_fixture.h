// A private directory and short words for trials of memduel-act.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "trial/supervisor.h"

namespace memduel {

inline constexpr double kMib = 1 << 20;

class TrialTest : public testing::Test {
 protected:
  TrialTest();
  ~TrialTest() override;

  /// A process that runs memduel-act with `words`.
  static ProcessSpec act(const std::string& role, const std::vector<std::string>& words);
  /// A server that is ready once it listens on `port`, and is stopped at the end.
  static ProcessSpec server_on(int port, std::vector<std::string> words);
  TrialPlan plan_of(std::vector<ProcessSpec> processes) const;
  TrialRun run(const TrialPlan& plan);
  TrialRun run(std::vector<ProcessSpec> processes) { return run(plan_of(std::move(processes))); }

  std::filesystem::path dir_;
  StopRequest stop_;
};

const RoleData& role_of(const TrialRun& run, const std::string& role);

/// The pid that `daemonise` wrote.
pid_t pid_in(const std::filesystem::path& file);

/// Waits up to `seconds` for a process to be gone (a zombie counts as gone).
bool gone_within(pid_t pid, double seconds);

bool has_note(const std::vector<Note>& notes, const std::string& code);

}  // namespace memduel
