#include "trial_fixture.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "trial/processes.h"
#include "util/error.h"

namespace memduel {

TrialTest::TrialTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "memduel-trial-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw Error(ExitCode::io, "mkdtemp", pattern);
  dir_ = pattern;
}

TrialTest::~TrialTest() {
  std::filesystem::remove_all(dir_);
}

ProcessSpec TrialTest::act(const std::string& role, const std::vector<std::string>& words) {
  ProcessSpec process;
  process.role = role;
  process.argv = {MEMDUEL_ACT};
  process.argv.insert(process.argv.end(), words.begin(), words.end());
  return process;
}

ProcessSpec TrialTest::server_on(int port, std::vector<std::string> words) {
  words.insert(words.end(), {"listen", std::to_string(port), "sleep", "60000"});
  ProcessSpec server = act("server", words);
  server.ready = Ready{};
  server.ready->port = port;
  server.end = End::stop;
  return server;
}

TrialPlan TrialTest::plan_of(std::vector<ProcessSpec> processes) const {
  TrialPlan plan;
  plan.id = 7;
  plan.block = 1;
  plan.arm = "original";
  plan.trial_dir = dir_;
  plan.log_dir = dir_;
  plan.processes = std::move(processes);
  plan.deadline_seconds = 60;
  plan.stop_grace_seconds = 0.3;
  plan.meters = {"procfs"};
  return plan;
}

TrialRun TrialTest::run(const TrialPlan& plan) {
  return run_trial(plan, {MEMDUEL_LAUNCHER, &stop_});
}

const RoleData& role_of(const TrialRun& run, const std::string& role) {
  for (const RoleData& data : run.trial.roles) {
    if (data.role == role) return data;
  }
  throw Error(ExitCode::cannot_measure, "no role " + role);
}

pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}

bool gone_within(pid_t pid, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto processes = all_processes();
    const bool alive =
        std::any_of(processes.begin(), processes.end(),
                    [&](const ProcessLine& line) { return line.pid == pid && line.state != 'Z'; });
    if (!alive) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

bool has_note(const std::vector<Note>& notes, const std::string& code) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const Note& note) { return note.code == code; });
}

}  // namespace memduel
