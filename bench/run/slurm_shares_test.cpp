#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/shares.h"
#include "support/small_experiment.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Answers as Slurm 22.05 does; what it prints was copied from it.
class PlayedSlurm {
 public:
  std::map<std::string, HelperResult> answers = {  // by command
      {"sbatch", {0, "17\n", ""}},
      {"squeue", {0, "", ""}},
      {"sacct", {1, "", "Slurm accounting storage is disabled\n"}},
      {"scontrol", {0, "MaxArraySize            = 1001\nMaxBatchRequeue         = 5\n", ""}},
      {"sinfo", {0, "n1\nn2\nn1\n", ""}},
      {"scancel", {0, "", ""}}};
  std::vector<std::vector<std::string>> calls;

  [[nodiscard]] SlurmCommands commands() {
    return SlurmCommands([this](const std::vector<std::string>& argv) {
      calls.push_back(argv);
      return answers.at(argv.front());
    });
  }
  /// The words of the calls of a command.
  [[nodiscard]] std::vector<std::string> called(const std::string& command) const {
    std::vector<std::string> all;
    for (const auto& argv : calls)
      if (argv.front() == command) all.insert(all.end(), argv.begin() + 1, argv.end());
    return all;
  }
};

TEST(SlurmQueue, HasStatesAndReasonsByTask) {
  PlayedSlurm slurm;
  slurm.answers["squeue"].out = "17_1|RUNNING|None\n17_2|PENDING|Resources\n";
  const auto queue = slurm.commands().queue({17});
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->at({17, 1}).state, "RUNNING");
  EXPECT_EQ(queue->at({17, 2}).reason, "Resources");
  EXPECT_EQ(queue->size(), 2U);
}

TEST(SlurmQueue, OfAForgottenJobIsEmptyAndOfASilentControllerAbsent) {
  PlayedSlurm slurm;
  slurm.answers["squeue"] = {1, "", "slurm_load_jobs error: Invalid job id specified\n"};
  EXPECT_THAT(*slurm.commands().queue({17}), IsEmpty());
  slurm.answers["squeue"] = {
      1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"};
  EXPECT_FALSE(slurm.commands().queue({17}));
}

TEST(SlurmQueue, IsAbsentWhereTheAnswerTakesTooLong) {
  const SlurmCommands hanging([](const auto& argv) -> HelperResult {
    throw Error(ExitCode::cannot_measure, "was not done within 60 s and was killed", argv.front());
  });
  EXPECT_FALSE(hanging.queue({17}));
  const SlurmCommands missing([](const auto& argv) -> HelperResult {
    throw Error(ExitCode::io, "cannot start: No such file or directory", argv.front());
  });
  EXPECT_THROW(missing.queue({17}), Error);
}

TEST(SlurmNodes, CountOnceInSeveralPartitions) {
  PlayedSlurm slurm;
  EXPECT_EQ(slurm.commands().nodes(""), 2);
  slurm.answers["sinfo"].out = "";
  EXPECT_EQ(slurm.commands().nodes("nowhere"), 0);
  EXPECT_THAT(slurm.calls.back(), testing::Contains("--partition=nowhere"));
}

TEST(SlurmEnds, AreAccountingsOrTheControllers) {
  PlayedSlurm slurm;
  slurm.answers["scontrol"].out =
      "JobId=3 ArrayJobId=1 ArrayTaskId=2 JobName=t.sh UserId=root(0) JobState=FAILED "
      "Reason=NonZeroExitCode Requeue=1\n";
  EXPECT_EQ(slurm.commands().end_of({1, 2}), "FAILED");
  slurm.answers["scontrol"] = {1, "", "slurm_load_jobs error: Invalid job id specified\n"};
  EXPECT_EQ(slurm.commands().end_of({1, 2}), "");
  slurm.answers["sacct"] = {0, "CANCELLED by 1000\n", ""};
  EXPECT_EQ(slurm.commands().end_of({1, 2}), "CANCELLED");
}

TEST(SlurmSubmission, TellsWhatSbatchSaid) {
  PlayedSlurm slurm;
  slurm.answers["sbatch"] = {1, "",
                             "sbatch: error: invalid partition specified: x\nsbatch: error: Batch "
                             "job submission failed: Invalid partition name specified\n"};
  try {
    slurm.commands().submit({}, "task.sh");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_measure);
    EXPECT_THAT(error.message(), HasSubstr("invalid partition specified: x; sbatch: error: Batch"));
  }
  slurm.answers["sbatch"] = {0, "18;cluster\n", ""};
  EXPECT_EQ(slurm.commands().submit({}, "task.sh"), 18);
  slurm.answers["sbatch"] = {0, "hello\n", ""};
  EXPECT_THROW(slurm.commands().submit({}, "task.sh"), Error);
}

class SharesOnSlurm : public TestFolder {
 protected:
  [[nodiscard]] SlurmShares handed_over(int shares, int retries = 1) {
    SlurmRecord record;
    record.name = "memduel-duel-1234";
    record.sbatch = {"--mem=1G"};
    for (int share = 1; share <= shares; ++share) record.tasks.push_back(ShareTask(share));
    SlurmShares made(folder_, record, retries, slurm_.commands());
    made.submit();
    return made;
  }

  PlayedSlurm slurm_;
};

TEST_F(SharesOnSlurm, AreOneArray) {
  const SlurmShares shares = handed_over(4);
  EXPECT_THAT(slurm_.called("sbatch"),
              ElementsAre("--parsable", "--job-name=memduel-duel-1234", "--array=1-4",
                          "--export=ALL,MEMDUEL_SHARD_OFFSET=0",
                          "--output=" + (folder_ / "log-%A-%a.txt").string(), "--mem=1G",
                          (folder_ / "task.sh").string()));
  EXPECT_EQ(shares.summary(), "4 PENDING");
  EXPECT_THAT(shares.open_jobs(), ElementsAre(17));
}

// The index of a task is smaller than MaxArraySize, and 0 is not used.
TEST_F(SharesOnSlurm, AreSeveralArraysWhereOneIsTooSmall) {
  slurm_.answers["scontrol"].out = "MaxArraySize            = 4\n";
  const SlurmShares shares = handed_over(7);
  std::vector<std::string> arrays;
  for (const std::string& word : slurm_.called("sbatch"))
    if (word.starts_with("--array=") || word.starts_with("--export=")) arrays.push_back(word);
  EXPECT_THAT(arrays, ElementsAre("--array=1-3", "--export=ALL,MEMDUEL_SHARD_OFFSET=0",
                                  "--array=1-3", "--export=ALL,MEMDUEL_SHARD_OFFSET=3", "--array=1",
                                  "--export=ALL,MEMDUEL_SHARD_OFFSET=6"));
}

TEST_F(SharesOnSlurm, ThatFailAreTriedAgainAndThenLost) {
  SlurmShares shares = handed_over(2);
  slurm_.answers["squeue"].out = "17_1|RUNNING|None\n";
  slurm_.answers["sacct"] = {0, "OUT_OF_MEMORY\n", ""};
  write_file_atomically(folder_ / "log-17-2.txt", "first\nkilled for memory\n");
  EXPECT_THAT(shares.look(), IsEmpty()) << "its files may come late";
  slurm_.answers["sbatch"].out = "18\n";
  EXPECT_THAT(shares.look(), ElementsAre("shard 2 of 2 ended early: OUT_OF_MEMORY (job 17_2); " +
                                         (folder_ / "log-17-2.txt").string() +
                                         " ends with: killed for memory; retry 1 of 1"));
  EXPECT_THAT(slurm_.called("sbatch"), testing::Contains("--array=2"));
  EXPECT_EQ(shares.summary(), "1 PENDING, 1 RUNNING");
  EXPECT_THAT(shares.look(), IsEmpty());
  EXPECT_THAT(shares.look(), ElementsAre("shard 2 of 2 ended early: OUT_OF_MEMORY (job 18_2); it "
                                         "is not retried"));
  EXPECT_TRUE(shares.has_lost());
  EXPECT_FALSE(shares.over());
}

TEST_F(SharesOnSlurm, ThatSomebodyCancelledAreNotTriedAgain) {
  SlurmShares shares = handed_over(1);
  slurm_.answers["sacct"] = {0, "CANCELLED by 0\n", ""};
  shares.look();
  EXPECT_THAT(shares.look(), ElementsAre(HasSubstr("CANCELLED (job 17_1); it is not retried")));
  EXPECT_TRUE(shares.over());
}

TEST_F(SharesOnSlurm, WaitWhereSlurmDoesNotAnswer) {
  SlurmShares shares = handed_over(1);
  slurm_.answers["squeue"] = {1, "", "Unable to contact slurm controller\n"};
  for (int i = 0; i < 3; ++i) EXPECT_THAT(shares.look(), IsEmpty());
  EXPECT_FALSE(shares.answers());
  EXPECT_FALSE(shares.over());
}

TEST_F(SharesOnSlurm, AreTakenOnWhoseSubmitterWasKilled) {
  SlurmRecord record;
  record.name = "memduel-duel-1234";
  record.tasks = {ShareTask(1), ShareTask(2)};  // sbatch was called, and nothing written after it
  SlurmShares shares(folder_, record, 1, slurm_.commands());
  slurm_.answers["squeue"].out = "23\n23_1|RUNNING|None\n23_2|PENDING|Resources\n";
  EXPECT_THAT(shares.go_on(), IsEmpty());
  EXPECT_THAT(slurm_.called("sbatch"), IsEmpty());
  EXPECT_THAT(shares.open_jobs(), ElementsAre(23));
}

TEST_F(SharesOnSlurm, GoOnFromTheirRecord) {
  const SlurmShares before = handed_over(2);
  const SlurmRecord record = read_slurm_record(folder_);
  EXPECT_EQ(record.tasks.size(), 2U);
  EXPECT_EQ(record.tasks[1].job, 17);
  SlurmShares after(folder_, record, 1, slurm_.commands());
  slurm_.answers["squeue"].out = "17_1|RUNNING|None\n";
  slurm_.answers["sacct"] = {0, "NODE_FAIL\n", ""};
  EXPECT_THAT(after.go_on(), ElementsAre("shard 2 of 2 ended early: NODE_FAIL (job 17_2); it is "
                                         "submitted again"));
}

TEST_F(SharesOnSlurm, AreRefusedWhereTheirRecordIsDamaged) {
  const auto message = [&](const std::string& text) {
    write_file_atomically(folder_ / "slurm.json", text);
    try {
      read_slurm_record(folder_);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string("read");
  };
  EXPECT_THAT(message("{"), HasSubstr("slurm.json"));
  EXPECT_THAT(message(R"({"schema": "memduel.slurm/2"})"), HasSubstr("name"));
  EXPECT_THAT(message(R"({"schema": "memduel.slurm/9", "name": "", "config_sha256": "", "seed": 1,
                          "sbatch": [], "tasks": []})"),
              HasSubstr("memduel.slurm/9"));
  EXPECT_THAT(message(R"({"schema": "memduel.slurm/2", "name": "", "config_sha256": "", "seed": 1,
      "sbatch": [], "tasks": [{"shard": 3, "job": 1, "index": 1, "attempts": 1, "state": ""}]})"),
              HasSubstr("expected shard 1, found 3"));
  EXPECT_THROW(read_slurm_record(folder_ / "nowhere"), Error);
}

}  // namespace
}  // namespace memduel
