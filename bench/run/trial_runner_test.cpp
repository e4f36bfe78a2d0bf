#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "run/run.h"
#include "run_in_progress.h"
#include "support/small_experiment.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// Runs nothing: notes which process each trial would have started, and fails those asked for.
class JobTrial : public TestFolder {
 protected:
  JobTrial() {
    planned_.plan.id = 3;
    planned_.plan.trial_dir = folder_ / "trials/000003";
    planned_.plan.meters = {"procfs"};
    planned_.plan.deadline_seconds = 600;
    planned_.plan.processes = {process("server")};
    planned_.prepare = {process("prepare.1"), process("prepare.2")};
    planned_.cleanup = {process("cleanup.1"), process("cleanup.2")};
  }

  static ProcessSpec process(const std::string& role) {
    ProcessSpec spec;
    spec.role = role;
    return spec;
  }

  TrialRun run() {
    return run_whole_trial(
        planned_,
        [this](const TrialPlan& plan) {
          const std::string role = plan.processes.at(0).role;
          ran_.push_back(role);
          TrialRun run;
          run.trial.id = plan.id;
          run.trial.roles.push_back({role, {}, {}, {}, role == fails_ ? 4 : 0, {}});
          run.limitations.push_back({"seen_in_" + role, "", ""});
          if (role == leaves_processes_) run.warnings.push_back({kLeftOver, "", ""});
          if (role == throws_) throw std::runtime_error("interrupted");
          if (role == fails_) {
            run.trial.status = TrialStatus::failed;
            run.trial.failure = role + " exited with status 4\n  | no disk";
          }
          if (role == "server" && writes_)
            write_file_atomically(plan.trial_dir / "model.npz", "weights");
          if (role.starts_with("cleanup")) {
            EXPECT_TRUE(plan.ignores_stop);
            EXPECT_EQ(plan.deadline_seconds, 60);
          }
          if (role != "server") {
            EXPECT_TRUE(plan.meters.empty());
          }
          return run;
        },
        folder_);
  }

  PlannedTrial planned_;
  std::vector<std::string> ran_;
  std::string fails_;
  std::string throws_;
  std::string leaves_processes_;
  bool writes_ = true;
};

TEST_F(JobTrial, RunsTheStepsAroundTheTrialAndReturnsTheTrial) {
  const TrialRun result = run();
  EXPECT_THAT(ran_, ElementsAre("prepare.1", "prepare.2", "server", "cleanup.1", "cleanup.2"));
  EXPECT_EQ(result.trial.roles.at(0).role, "server");
  EXPECT_EQ(result.limitations.size(), 1U);
}

TEST_F(JobTrial, AFailingPrepareFailsTheTrialAndIsCleanedUp) {
  fails_ = "prepare.1";
  const TrialRun result = run();
  EXPECT_THAT(ran_, ElementsAre("prepare.1", "cleanup.1", "cleanup.2"));
  EXPECT_EQ(result.trial.status, TrialStatus::failed);
  EXPECT_EQ(result.trial.id, 3);
  EXPECT_EQ(result.trial.failure, "prepare.1 exited with status 4\n  | no disk");
  EXPECT_TRUE(result.trial.roles.empty()) << "prepare is no role of the trial";
  EXPECT_EQ(result.prepare_status, 4);
}

TEST_F(JobTrial, APrepareThatLeavesProcessesIsAWarning) {
  leaves_processes_ = "prepare.2";
  const TrialRun result = run();
  EXPECT_EQ(result.trial.status, TrialStatus::ok);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].message,
            "prepare.2 left processes behind, which were killed before the trial");
}

TEST_F(JobTrial, CleansUpAfterAFailedAndAnInterruptedTrial) {
  fails_ = "server";
  EXPECT_EQ(run().trial.status, TrialStatus::failed);
  EXPECT_THAT(ran_, ElementsAre("prepare.1", "prepare.2", "server", "cleanup.1", "cleanup.2"));
  ran_.clear();
  throws_ = "server";
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_THAT(ran_, ElementsAre("prepare.1", "prepare.2", "server", "cleanup.1", "cleanup.2"));
}

TEST_F(JobTrial, AFailingCleanupIsAWarning) {
  fails_ = "cleanup.1";
  const TrialRun result = run();
  EXPECT_EQ(result.trial.status, TrialStatus::ok);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].code, "cleanup_failed");
  EXPECT_EQ(ran_.back(), "cleanup.2") << "one that fails does not keep the others from their work";
}

TEST_F(JobTrial, WritesTemplatesIntoANewDirectoryAndKeepsWhatIsLeft) {
  write_file_atomically(folder_ / "x", "");
  fs::create_directories(planned_.plan.trial_dir);
  write_file_atomically(planned_.plan.trial_dir / "model.npz", "of an earlier run");
  planned_.files[planned_.plan.trial_dir / "conf/server.yaml"] = "port: 1\n";
  planned_.artifacts = {{Artifact::Kind::file, "model", planned_.plan.trial_dir / "model.npz", {}}};
  const TrialRun result = run();
  EXPECT_EQ(read_file(planned_.plan.trial_dir / "conf/server.yaml"), "port: 1\n");
  EXPECT_EQ(result.trial.files.size(), 1U);
  EXPECT_TRUE(fs::is_directory(folder_ / "files"));
  writes_ = false;
  EXPECT_THAT(run().trial.failure, testing::StartsWith("every process succeeded, but none wrote"));
}

TEST_F(JobTrial, TakesWhatIsPrintedForTheResultWithoutThePathsOfAnArm) {
  planned_.plan.log_dir = folder_;
  planned_.plan.processes[0].argv = {"/built/a/bin/sum", "-v"};
  planned_.plan.processes[0].cwd = "/built/a";
  const auto hash_of = [&](const std::string& text) {
    write_file_atomically(folder_ / "3-server.stdout", text);
    const auto files = run().trial.files;
    return files.contains(kStandardOutput) ? files.at(kStandardOutput) : "";
  };
  EXPECT_EQ(hash_of("42\n"), "") << "only where it is asked for";
  planned_.artifacts = {{Artifact::Kind::printed, kStandardOutput, {}, {}}};
  EXPECT_EQ(hash_of(""), "") << "a program that prints nothing says nothing";
  // printf '42\n' | sha256sum
  EXPECT_EQ(hash_of("42\n"), "084c799cd551dd1d8d5c5f9a5d593b2e931f5e36122ee5c793c1d08a19839cc0");
  const std::string with_paths = hash_of("/built/a/bin/sum: read /built/a/x\n");
  planned_.plan.processes[0].argv = {"/built/b/bin/sum", "-v"};
  planned_.plan.processes[0].cwd = "/built/b";
  EXPECT_EQ(hash_of("/built/b/bin/sum: read /built/b/x\n"), with_paths);
  EXPECT_NE(hash_of("/built/b/bin/sum: read /built/b/y\n"), with_paths);
  EXPECT_EQ(hash_of(std::string(std::size_t{32} << 20, '4')), "") << "too much to read";
}

TrialData trial_with_gauges(const std::string& gauge, const std::vector<int>& rounds) {
  TrialData trial;
  trial.id = 4;
  trial.arm = "optimized";
  RoleData role;
  role.role = "simulator";
  role.metrics = {{gauge, 0.7}, {"peak_rss_bytes", 1}};
  for (int round = 1; round <= 20; ++round) {
    role.rounds.push_back({round, 0, 0, {}, {}});
    if (std::ranges::find(rounds, round) != rounds.end())
      role.rounds.edit().back().metrics[gauge] = 0.9 - 0.01 * round;
  }
  trial.roles.push_back(role);
  return trial;
}

TEST(MemoryWarnings, NameTrialArmRoleRoundsAndTheMost) {
  TrialData trial = trial_with_gauges("memory_critical_ratio", {3, 7});
  const std::vector<Note> notes = take_memory_warnings(trial);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "memory_critical");
  EXPECT_EQ(
      notes[0].message,
      "trial 4, variant optimized: memory was critically short for simulator in rounds 3, 7: at "
      "most 87.0% used");
}

TEST(MemoryWarnings, ListTenRoundsAndCountTheRest) {
  TrialData trial =
      trial_with_gauges("memory_warning_ratio", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_THAT(take_memory_warnings(trial)[0].message,
              testing::HasSubstr("in rounds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"));
}

TEST(MemoryWarnings, AreNoMetricOfTheTrial) {
  TrialData trial = trial_with_gauges("memory_warning_ratio", {5});
  take_memory_warnings(trial);
  EXPECT_FALSE(trial.roles[0].metrics.contains("memory_warning_ratio"));
  EXPECT_TRUE(trial.roles[0].metrics.contains("peak_rss_bytes"));
  EXPECT_TRUE(trial.roles[0].rounds[4].metrics.contains("memory_warning_ratio"));
  TrialData calm = trial_with_gauges("memory_warning_ratio", {});
  EXPECT_TRUE(take_memory_warnings(calm).empty());
}

}  // namespace
}  // namespace memduel
