// Rounds that real processes name in lines of their logs.
#include <gmock/gmock.h>

#include <algorithm>

#include "trial_fixture.h"
#include "util/file.h"

namespace memduel {
namespace {

using From = TextMarkSpec::From;
using testing::HasSubstr;

constexpr double kMebibyte = 1 << 20;
constexpr const char* kRound = "Round (\\d+)";

class TextMarksOfTrials : public TrialTest {
 protected:
  TrialPlan marked(std::vector<ProcessSpec> processes, std::vector<TextMarkSpec> marks) const {
    TrialPlan plan = plan_of(std::move(processes));
    plan.text_marks = std::move(marks);
    return plan;
  }

  static ProcessSpec shell(const std::string& script) {
    ProcessSpec process;
    process.role = "server";
    process.argv = {"/bin/sh", "-c", script};
    return process;
  }

  static std::vector<int> rounds_of(const TrialRun& run, const std::string& role) {
    std::vector<int> numbers;
    for (const RoundData& round : role_of(run, role).rounds) numbers.push_back(round.round);
    return numbers;
  }

  static std::string message_of(const std::vector<Note>& notes, const std::string& code) {
    for (const Note& note : notes) {
      if (note.code == code) return note.message;
    }
    return {};
  }
};

TEST_F(TextMarksOfTrials, PeaksOfRoundsAndPhasesAreReadFromOutsideAndStartAnew) {
  const TrialRun result = run(marked(
      {act("server", {"print",     "Round 1",   "sleep", "300",         "touch", "32",    "free",
                      "sleep",     "300",       "print", "Round 2",     "sleep", "300",   "print",
                      "phase fit", "sleep",     "300",   "touch",       "16",    "sleep", "300",
                      "complain",  "acc=0.875", "print", "Round 3 end", "sleep", "300"})},
      {{"server", From::standard_output, {}, kRound},
       {"server", From::standard_output, {}, "phase (?<phase>\\w+)"},
       {"server", From::standard_error, {}, "acc=(?<metric_accuracy_ratio>[\\d.]+)"}}));
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_THAT(rounds_of(result, "server"), testing::ElementsAre(1, 2, 3));
  const auto& rounds = role_of(result, "server").rounds;
  // Pages of the program itself: less than 4 MiB.
  EXPECT_GE(rounds[0].metrics.at("peak_rss_bytes"), 32 * kMebibyte);
  EXPECT_LE(rounds[0].metrics.at("end_rss_bytes"), 4 * kMebibyte);
  EXPECT_GE(rounds[1].metrics.at("peak_rss_bytes"), 16 * kMebibyte);
  EXPECT_LE(rounds[1].metrics.at("peak_rss_bytes"), 20 * kMebibyte);
  EXPECT_GE(rounds[1].metrics.at("round_seconds"), 0.8);
  ASSERT_EQ(rounds[1].phases.size(), 1U);
  EXPECT_EQ(rounds[1].phases[0].phase, "fit");
  EXPECT_GE(rounds[1].phases[0].metrics.at("peak_rss_bytes"), 16 * kMebibyte);
  EXPECT_EQ(role_of(result, "server").metrics.at("accuracy_ratio"), 0.875);
  EXPECT_THAT(message_of(result.limitations, "marks_from_text"), HasSubstr("rounds of server"));
  EXPECT_FALSE(has_note(result.limitations, "peaks_sampled_from_outside"));
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front().message;
}

TEST_F(TextMarksOfTrials, ALogThatIsRenamedOrCutIsFollowed) {
  const auto log = dir_ / "job.log";
  ProcessSpec server = shell(
      "say() { echo \"$1\" >> job.log; sleep 0.3; }; say 'Round 1'; mv job.log job.log.1; "
      "say 'Round 2'; say 'Round 3'; : > job.log; say 'Round 4'; rm job.log; say 'Round 5'");
  const TrialRun result = run(marked({server}, {{"server", From::file, log, kRound}}));
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_THAT(rounds_of(result, "server"), testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(TextMarksOfTrials, MegabytesOfOtherLinesHideNoRound) {
  const TrialRun result = run(marked(
      {act("server", {"print", "Round 1", "flood", "64", "print", "Round 2", "sleep", "300"})},
      {{"server", From::standard_output, {}, kRound}}));
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_THAT(rounds_of(result, "server"), testing::ElementsAre(1, 2));
}

TEST_F(TextMarksOfTrials, APatternThatNeverMatchesIsNamedWithTheLinesItSaw) {
  const TrialRun result = run(marked({act("server", {"print", "Runde 1", "print", "Runde 2"})},
                                     {{"server", From::standard_output, {}, kRound}}));
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_EQ(message_of(result.warnings, "pattern_never_matched"),
            "server: no line of its standard output matches Round (\\d+)");
  EXPECT_EQ(role_of(result, "server").rounds.size(), 1U);
}

TEST_F(TextMarksOfTrials, RoundsWhoseLinesArriveTogetherAreWarnedOf) {
  const TrialRun result = run(marked({shell("printf 'Round 1\\nRound 2\\nRound 3\\n'; sleep 0.3")},
                                     {{"server", From::standard_output, {}, kRound}}));
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_THAT(message_of(result.warnings, "rounds_read_together"), HasSubstr("2 rounds of server"));
}

TEST_F(TextMarksOfTrials, ALastLineWithoutItsEndIsReadWhenTheProcessEnds) {
  const TrialRun result = run(marked({shell("printf 'Round 1\\n'; sleep 0.3; printf 'Round 2'")},
                                     {{"server", From::standard_output, {}, kRound}}));
  EXPECT_THAT(rounds_of(result, "server"), testing::ElementsAre(1, 2));
  for (const RoundData& round : role_of(result, "server").rounds) {
    EXPECT_GE(round.metrics.at("round_seconds"), 0);
  }
}

TEST_F(TextMarksOfTrials, DescendantsThatAreARoleOfTheirOwnHaveALogOfTheirOwn) {
  TrialPlan plan = marked(
      {shell(
          "sh -c 'echo Epoch 1 > worker.log; sleep 0.7; echo Epoch 2 >> worker.log; sleep 0.7; : "
          "worker'; :")},
      {{"worker", From::file, dir_ / "worker.log", "Epoch (\\d+)"}});
  plan.match = {{"worker", ": worker"}};
  const TrialRun result = run(plan);
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_THAT(rounds_of(result, "worker"), testing::ElementsAre(1, 2));
  EXPECT_GT(role_of(result, "worker").rounds[0].metrics.at("end_rss_bytes"), 0);
}

TEST_F(TextMarksOfTrials, TheLastRoundOfDescendantsThatAreARoleEndsATrial) {
  TrialPlan plan = marked(
      {shell(
          "sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo Epoch $i >> worker.log; sleep 0.3; done; : "
          "worker'; :")},
      {{"worker", From::file, dir_ / "worker.log", "Epoch (\\d+)"}});
  plan.match = {{"worker", ": worker"}};
  plan.stop_after_round = 2;
  const TrialRun result = run(plan);
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_THAT(rounds_of(result, "worker"), testing::ElementsAre(1, 2));
}

TEST_F(TextMarksOfTrials, AFailureNamesTheRoundThatALineBegan) {
  const TrialRun result =
      run(marked({act("server", {"print", "Round 4", "sleep", "300", "exit", "3"})},
                 {{"server", From::standard_output, {}, kRound}}));
  EXPECT_THAT(result.trial.failure, HasSubstr("exited with status 3 in round 4"));
}

TEST_F(TextMarksOfTrials, MarksOfAnnotateGoFirstAndOnlyMetricsOfLinesCountThen) {
  const TrialRun result = run(marked(
      {act("server", {"idle", "sleep", "300", "print", "Round 7 loss 0.5", "sleep", "300", "round",
                      "1", "end", "1"})},
      {{"server", From::standard_output, {}, "Round (?<round>\\d+) loss (?<metric_loss>\\S+)"}}));
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_THAT(rounds_of(result, "server"), testing::ElementsAre(1));
  EXPECT_EQ(role_of(result, "server").metrics.at("loss"), 0.5);
  EXPECT_TRUE(has_note(result.warnings, "text_marks_passed_over"));
  EXPECT_FALSE(has_note(result.limitations, "marks_from_text"));
}

TEST_F(TextMarksOfTrials, OfARoleOfSeveralProcessesTheSumsAreSampled) {
  const TrialRun result =
      run(marked({act("server", {"child", "4",     "touch",   "24",    "sleep", "2000", "sleep",
                                 "700",   "print", "Round 1", "touch", "16",    "free", "sleep",
                                 "300",   "print", "Round 2", "sleep", "300",   "wait"})},
                 {{"server", From::standard_output, {}, kRound}}));
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const auto& rounds = role_of(result, "server").rounds;
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_GE(rounds[0].metrics.at("end_rss_bytes"), 24 * kMebibyte);
  EXPECT_LE(rounds[0].metrics.at("end_rss_bytes"), 32 * kMebibyte);
}

TEST_F(TextMarksOfTrials, AMarkIsSeenSoonAfterItsLineIsWritten) {
  ProcessSpec server;
  server.role = "server";
  server.argv = {"python3", "-c",
                 "import time\n"
                 "for n in range(1, 21):\n"
                 "    print('Round', n, 'at', time.monotonic_ns(), flush=True)\n"
                 "    time.sleep(0.02)\n"};
  const TrialRun result =
      run(marked({server}, {{"server",
                             From::standard_output,
                             {},
                             "Round (?<round>\\d+) at (?<metric_written_ns>\\d+)"}}));
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  std::vector<double> delays;
  for (const RoundData& round : role_of(result, "server").rounds) {
    delays.push_back(static_cast<double>(round.begin_ns) - round.metrics.at("written_ns"));
    EXPECT_GT(delays.back(), 0);
  }
  ASSERT_GE(delays.size(), 10U);
  std::sort(delays.begin(), delays.end());
  RecordProperty("median_delay_us", static_cast<int>(delays[delays.size() / 2] * 1e-3));
  EXPECT_LT(delays[delays.size() / 2], 50e6) << "on a loaded machine, median";
}

}  // namespace
}  // namespace memduel
