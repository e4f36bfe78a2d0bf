#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "run/run.h"
#include "run_in_progress.h"
#include "stats/trial_order.h"
#include "support/small_experiment.h"
#include "test_trials.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// Stands for the supervisor: every trial succeeds and leaves a model, unless told otherwise.
struct FakeTrials {
  std::vector<TrialPlan> seen;
  std::map<std::string, std::string> models = {{"original", "weights"}, {"optimized", "weights"}};
  std::function<void(const TrialPlan&, TrialRun&)> change = [](const TrialPlan&, TrialRun&) {};
  std::string answer = R"({"max_abs_diff": 0.25})";  ///< of what compares two models

  TrialRun operator()(const TrialPlan& plan) {
    EXPECT_TRUE(fs::is_directory(plan.trial_dir));
    EXPECT_TRUE(fs::is_directory(plan.log_dir));
    if (plan.processes.front().role == "compare.final_model") {
      write_file_atomically(plan.log_dir / "0-compare.final_model.stdout", answer);
      return {};
    }
    seen.push_back(plan);
    TrialRun run;
    run.trial = full_trial(plan.id, plan.block, plan.arm);
    run.trial.position = plan.position;
    run.trial.kind = plan.kind;
    run.trial.tracer = plan.tracer;
    run.trial.model_sha256.reset();
    const auto model = models.find(plan.arm);
    if (model != models.end())
      write_file_atomically(plan.trial_dir / "final_model.bin", model->second);
    change(plan, run);
    return run;
  }
};

void fail(TrialRun& run, const std::string& why) {
  run.trial.status = TrialStatus::failed;
  run.trial.failure = why;
}

class DriverTest : public TestFolder {
 protected:
  Store create() { return Store::create(folder_ / "run", header()); }
  Store resume() { return Store::resume(folder_ / "run", header()); }
  RunHeader header() const {
    return {experiment_.config,
            experiment_.config_sha256,
            experiment_.facts,
            {{"fingerprint", "f"}},
            {}};
  }
  RunOutcome run(Store& store) {
    return run_experiment(experiment_, store, std::ref(fake_), options_);
  }
  RunData stored() const { return read_run(folder_ / "run"); }

  Experiment experiment_ = federated_experiment();
  FakeTrials fake_;
  DriverOptions options_;
};

std::vector<std::string> arms_of(const std::vector<TrialPlan>& plans) {
  std::vector<std::string> arms;
  for (const TrialPlan& plan : plans) arms.push_back(std::to_string(plan.block) + plan.arm);
  return arms;
}

std::vector<std::string> profiled_arms(const std::vector<TrialPlan>& plans) {
  std::vector<std::string> arms;
  for (const TrialPlan& plan : plans)
    if (plan.kind == TrialKind::profile) arms.push_back(plan.arm);
  return arms;
}

TEST_F(DriverTest, WarmsUpTheBaselineFirstThenRunsASuperblockInItsRandomOrder) {
  Store store = create();
  const RunOutcome outcome = run(store);
  EXPECT_EQ(outcome.blocks, 2);
  EXPECT_EQ(outcome.end, RunEnd::complete);
  ASSERT_EQ(fake_.seen.size(), 6U);
  std::map<std::string, int> times;
  for (std::size_t i = 0; i < 6; ++i) {
    const TrialPlan& plan = fake_.seen[i];
    const bool warmup = i < 2;
    const std::size_t place = warmup ? i : i - 2;
    const std::size_t arm = warmup ? place : superblock_order(1, 0, 2)[place];
    EXPECT_EQ(plan.id, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(plan.arm, experiment_.variants[arm].name);
    EXPECT_EQ(plan.block, times[plan.arm]++) << "a variant's first place is of the first block";
    EXPECT_EQ(plan.position, static_cast<int>(place));
    EXPECT_EQ(plan.kind, warmup ? TrialKind::warmup : TrialKind::measure);
  }
  EXPECT_EQ(stored().trials.size(), 6U);
}

TEST_F(DriverTest, WarmsUpAsOftenAsAskedFor) {
  experiment_.config.measure.warmups = 3;
  options_.most_trials = 4;
  {
    Store store = create();
    EXPECT_EQ(run(store).end, RunEnd::paused);
  }
  options_.most_trials.reset();
  Store store = resume();
  run(store);
  std::map<std::pair<std::string, TrialKind>, int> trials;
  for (const TrialData& trial : stored().trials) ++trials[{trial.arm, trial.kind}];
  EXPECT_EQ((trials[{"original", TrialKind::warmup}]), 3);
  EXPECT_EQ((trials[{"optimized", TrialKind::warmup}]), 3);
  EXPECT_EQ((trials[{"original", TrialKind::measure}]), 2);
  EXPECT_EQ(fake_.seen[5].kind, TrialKind::warmup) << "all of them come first";
}

TEST_F(DriverTest, NeedsNoWarmUp) {
  experiment_.config.measure.warmups = 0;
  Store store = create();
  run(store);
  EXPECT_EQ(fake_.seen.size(), 4U);
  EXPECT_EQ(fake_.seen.front().kind, TrialKind::measure);
}

TEST_F(DriverTest, AJobWithoutTheRoundToStopAfterIsRefusedAfterItsFirstTrial) {
  fake_.change = [](const TrialPlan&, TrialRun& trial) {
    trial.warnings.push_back({kNoRoundToStopAfter, "stop_after_round is 3, and none came", "mark"});
  };
  Store store = create();
  const Error error = error_of([&] { run(store); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.message(), testing::StartsWith("workload.stop_after_round: stop_after_round"));
  EXPECT_EQ(fake_.seen.size(), 1U);
}

TEST_F(DriverTest, TheWorkersConfigLiesInATrialsOwnFolderWhichIsRemovedAfterwards) {
  fake_.change = [](const TrialPlan& plan, TrialRun&) {
    EXPECT_TRUE(fs::exists(plan.trial_dir / "worker.json"));
  };
  Store store = create();
  run(store);
  EXPECT_FALSE(fs::exists(folder_ / "run/trials"));
}

TEST_F(DriverTest, EqualModelsAreBitIdenticalAndKeptOncePerArm) {
  Store store = create();
  run(store);
  const RunData run_data = stored();
  EXPECT_EQ(run_data.trials.back().model_sha256, sha256_hex("weights"));
  ASSERT_EQ(run_data.artifact_differences.size(), 1U);
  EXPECT_TRUE(run_data.artifact_differences[0].bit_identical);
  EXPECT_EQ(run_data.artifact_differences[0].max_difference, 0.0);
  std::size_t copies = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "run/models")) copies += entry.exists();
  EXPECT_EQ(copies, 2U);
}

TEST_F(DriverTest, DifferentModelsAreCompared) {
  fake_.models["optimized"] = "other weights";
  Store store = create();
  run(store);
  const RunData run_data = stored();
  ASSERT_EQ(run_data.artifact_differences.size(), 1U);
  EXPECT_FALSE(run_data.artifact_differences[0].bit_identical);
  EXPECT_EQ(run_data.artifact_differences[0].max_difference, 0.25);
  EXPECT_TRUE(run_data.warnings.empty());
}

TEST_F(DriverTest, AModelThatVariesBetweenTrialsIsAWarning) {
  int count = 0;
  fake_.change = [&](const TrialPlan& plan, TrialRun&) {
    if (plan.arm != "optimized") return;
    write_file_atomically(plan.trial_dir / "final_model.bin", "weights" + std::to_string(++count));
  };
  Store store = create();
  run(store);
  const RunData run_data = stored();
  EXPECT_FALSE(run_data.artifact_differences.at(0).bit_identical);
  ASSERT_EQ(run_data.warnings.size(), 1U);
  EXPECT_EQ(run_data.warnings[0].message,
            "the trials of variant optimized end with 2 different models");
}

TEST_F(DriverTest, ModelsThatCannotBeComparedAreAWarning) {
  fake_.models["optimized"] = "other weights";
  fake_.answer = "different shapes";
  Store store = create();
  run(store);
  const RunData run_data = stored();
  EXPECT_FALSE(run_data.artifact_differences.at(0).max_difference);
  EXPECT_EQ(run_data.warnings.at(0).code, "models_not_compared");
}

TEST_F(DriverTest, AFailingCandidateIsRecordedAndTheRunGoesOn) {
  fake_.change = [](const TrialPlan& plan, TrialRun& run) {
    if (plan.arm == "optimized") fail(run, "client-1: killed by signal 11");
  };
  Store store = create();
  EXPECT_EQ(run(store).blocks, 2);
  int failed = 0;
  for (const TrialData& trial : stored().trials) failed += trial.status == TrialStatus::failed;
  EXPECT_EQ(failed, 3);
  EXPECT_TRUE(fs::exists(folder_ / "run/trials"));  // what a failed trial left is kept
}

TEST_F(DriverTest, ABaselineThatNeverWorksEndsTheRunEarly) {
  experiment_.config.measure.repeats = 8;
  fake_.change = [](const TrialPlan& plan, TrialRun& run) {
    if (plan.arm == "original") fail(run, "server: exit status 1");
  };
  Store store = create();
  const Error error = error_of([&] { run(store); });
  EXPECT_EQ(error.code(), ExitCode::cannot_measure);
  EXPECT_STREQ(error.what(),
               "the baseline original failed in all of its 2 trials, the last time: server: exit "
               "status 1");
  EXPECT_LE(stored().trials.size(), 4U) << "not a whole superblock";
}

TEST_F(DriverTest, AnOddNumberOfBlocksEndsWithASingleOne) {
  experiment_.config.measure.repeats = 3;
  Store store = create();
  EXPECT_EQ(run(store).blocks, 3);
  ASSERT_EQ(fake_.seen.size(), 8U);
  for (std::size_t i = 6; i < 8; ++i) {
    EXPECT_EQ(fake_.seen[i].block, 3);
    const TrialOrder last = segment_at({1, 2, 0, {3}}, 1).superblocks.back();
    EXPECT_EQ(fake_.seen[i].arm, experiment_.variants[last[i - 6]].name);
  }
}

TEST_F(DriverTest, AnInputThatCannotBePreparedEndsTheRunAtOnce) {
  experiment_.config.workload.job.prepare = {{"/bin/graphs"}};
  fake_.change = [](const TrialPlan&, TrialRun& run) {
    fail(run, "graphs exited with status 4");
    run.trial.roles.front().exit_status = 4;
  };
  Store store = create();
  const Error error = error_of([&] { run(store); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_STREQ(error.what(), "graphs exited with status 4");
  EXPECT_EQ(fake_.seen.size(), 1U);
  EXPECT_TRUE(stored().trials.empty());
}

TEST_F(DriverTest, ABaselineThatOnlyWarmedUpIsNoMeasurement) {
  fake_.change = [](const TrialPlan& plan, TrialRun& run) {
    if (plan.arm == "original" && plan.block > 0) fail(run, "server: exit status 1");
  };
  Store store = create();
  EXPECT_EQ(error_of([&] { run(store); }).code(), ExitCode::cannot_measure);
}

TEST_F(DriverTest, AWorkloadThatLeavesNoModelHasFailed) {
  fake_.models.erase("optimized");
  Store store = create();
  run(store);
  for (const TrialData& trial : stored().trials) {
    if (trial.arm != "optimized") continue;
    EXPECT_EQ(trial.status, TrialStatus::failed);
    EXPECT_THAT(trial.failure,
                testing::StartsWith("every process succeeded, but none wrote the final model, "));
  }
}

TEST_F(DriverTest, AHarnessFaultDropsItsBlockAndAnotherIsRun) {
  fake_.change = [](const TrialPlan& plan, TrialRun& run) {
    run.trial.harness_fault = plan.block == 1 && plan.position == 1;
  };
  Store store = create();
  EXPECT_EQ(run(store).blocks, 2);
  EXPECT_EQ(fake_.seen.back().block, 3);
  for (const TrialData& trial : stored().trials) {
    EXPECT_EQ(trial.status, trial.block == 1 ? TrialStatus::dropped : TrialStatus::ok);
  }
}

TEST_F(DriverTest, AHarnessThatKeepsFailingIsNotBelieved) {
  fake_.change = [](const TrialPlan&, TrialRun& run) { run.trial.harness_fault = true; };
  Store store = create();
  const Error error = error_of([&] { run(store); });
  EXPECT_EQ(error.code(), ExitCode::cannot_measure);
  EXPECT_THAT(error.what(), testing::EndsWith("blocks were lost to internal errors of memduel"));
}

TEST_F(DriverTest, AnInterruptedRunResumesWithEveryTrialOnce) {
  for (const std::size_t until : {1U, 2U, 3U, 5U}) {
    fs::remove_all(folder_ / "run");
    fake_.seen.clear();
    fake_.change = [&](const TrialPlan&, TrialRun&) {
      if (fake_.seen.size() == until) throw std::runtime_error("power cut");
    };
    {
      Store store = create();
      EXPECT_THROW(run(store), std::runtime_error);
    }
    EXPECT_EQ(stored().trials.size(), until - 1);
    fake_.change = [](const TrialPlan&, TrialRun&) {};
    fake_.seen.pop_back();  // the trial that was cut short is run again
    Store store = resume();
    EXPECT_EQ(run(store).blocks, 2);
    EXPECT_THAT(arms_of(fake_.seen),
                testing::UnorderedElementsAre("0original", "0optimized", "1original", "1optimized",
                                              "2original", "2optimized"));
    EXPECT_EQ(stored().trials.size(), 6U);
    EXPECT_EQ(stored().artifact_differences.size(), 1U);
  }
}

TEST_F(DriverTest, ResumingAFinishedRunRunsNothing) {
  {
    Store store = create();
    run(store);
  }
  fake_.seen.clear();
  Store store = resume();
  EXPECT_EQ(run(store).blocks, 2);
  EXPECT_TRUE(fake_.seen.empty());
}

TEST_F(DriverTest, AHarnessFaultBeforeAnInterruptionStillDropsItsBlock) {
  {
    Store store = create();
    TrialData faulty = full_trial(1, 1, "original");
    faulty.harness_fault = true;
    store.add_trial(faulty);
  }
  Store store = resume();
  EXPECT_EQ(run(store).blocks, 2);
  EXPECT_EQ(stored().trials.at(0).status, TrialStatus::dropped);
}

TEST_F(DriverTest, TheAdaptiveDesignEndsWhenTheCallerIsSettled) {
  experiment_.config.measure.repeats.reset();
  std::vector<int> asked;
  options_.should_stop = [&](const RunData& so_far) {
    asked.push_back(so_far.trials.back().block);
    return asked.back() == 4;
  };
  Store store = create();
  const RunOutcome outcome = run(store);
  EXPECT_EQ(outcome.blocks, 4);
  EXPECT_EQ(outcome.end, RunEnd::settled);
  EXPECT_THAT(asked, testing::ElementsAre(2, 4)) << "a superblock is never split";
}

TEST_F(DriverTest, AFixedDesignIsNeverLookedAtEarly) {
  options_.should_stop = [](const RunData&) {
    ADD_FAILURE() << "a fixed design has one look";
    return true;
  };
  Store store = create();
  EXPECT_EQ(run(store).blocks, 2);
}

/// A clock that each trial moves by ten seconds.
class TimedDriverTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    experiment_.config.measure.repeats = 100;
    options_.fewest_blocks = 5;
    options_.clock = [this] { return now_; };
    fake_.change = [this](const TrialPlan&, TrialRun&) { now_ += std::chrono::seconds(10); };
  }
  [[nodiscard]] std::vector<Note> time_warnings() const {
    std::vector<Note> notes = stored().warnings;
    std::erase_if(notes, [](const Note& note) { return note.code != kOutOfTime; });
    return notes;
  }

  std::chrono::steady_clock::time_point now_;
};

// A warm-up of 20 s and six blocks of 20 s: five are no whole superblocks.
TEST_F(TimedDriverTest, TooLittleTimeIsRefusedAfterTheWarmUpWithTheMinutesThatWouldDo) {
  options_.max_minutes = 139.0 / 60;
  Store store = create();
  const Error error = error_of([&] { run(store); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.message(),
            "--max-minutes: expected at least 2.5, found 2.31667: after the warm-up, which took "
            "20.0 s, a decision needs 6 trials each, 20.0 s for one trial of each variant\n"
            "  use --max-minutes 2.5 or more");
  EXPECT_EQ(fake_.seen.size(), 2U) << "no trial that counts";
}

TEST_F(TimedDriverTest, AdviceIsTheCommandThatGoesOn) {
  options_.resume_command = [](std::optional<double> minutes) {
    return minutes ? fmt::format("memduel run --max-minutes {}", *minutes) : "memduel run";
  };
  options_.max_minutes = 139.0 / 60;
  Store store = create();
  EXPECT_EQ(error_of([&] { run(store); }).advice(),
            "to continue without a second warm-up, run:\n  memduel run --max-minutes 2.5");
  options_.max_minutes = 141.0 / 60;
  run(store);
  ASSERT_EQ(time_warnings().size(), 1U);
  EXPECT_EQ(time_warnings()[0].advice, "to continue, run:\n  memduel run");
}

TEST_F(TimedDriverTest, TheWarmUpIsCheckedOnceBeforeTheFirstBlock) {
  options_.check_warmup = [](const RunData& warmups) {
    throw Error(ExitCode::usage, std::to_string(warmups.trials.size()) + " trials");
  };
  {
    Store store = create();
    EXPECT_EQ(std::string(error_of([&] { run(store); }).what()), "2 trials");
    EXPECT_EQ(fake_.seen.size(), 2U);
    options_.check_warmup = nullptr;
    options_.max_minutes = 141.0 / 60;
    run(store);
  }
  options_.check_warmup = [](const RunData&) { FAIL() << "blocks are measured already"; };
  experiment_.config.measure.repeats = 10;
  Store again = Store::resume(folder_ / "run", header());
  EXPECT_EQ(run(again).end, RunEnd::complete);
}

TEST_F(TimedDriverTest, EachOfTheFirstTrialsIsChecked) {
  for (const int warmups : {1, 0}) {
    experiment_.config.measure.warmups = warmups;
    experiment_.config.measure.repeats = 4;
    std::vector<std::size_t> checked;
    options_.check_first_trials = [&](const RunData& first_trials) {
      checked.push_back(first_trials.trials.size());
    };
    Store store = create();
    run(store);
    // The second trial of the first pair may be of its second block.
    ASSERT_EQ(checked.size(), 2U);
    EXPECT_EQ(checked.front(), 1U);
    fs::remove_all(folder_ / "run");
    fake_.seen.clear();
  }
}

TEST_F(TimedDriverTest, TheRunEndsAfterThePairOfBlocksThatPassesTheTime) {
  options_.max_minutes = 141.0 / 60;
  Store store = create();
  const RunOutcome outcome = run(store);
  EXPECT_EQ(outcome.end, RunEnd::out_of_time);
  EXPECT_EQ(outcome.blocks, 8) << "after six of them a second was left";
  ASSERT_EQ(time_warnings().size(), 1U);
  EXPECT_EQ(
      time_warnings()[0].message,
      "the run ended after 8 of 100 trials each: 3 min 00 s had passed, more than --max-minutes "
      "2.35");
}

TEST_F(TimedDriverTest, BlocksLeaveTimeForProfileTrials) {
  options_.max_minutes = 161.0 / 60;
  options_.arms_to_profile = [](const RunData&) {
    return std::vector<std::string>{"original", "optimized"};
  };
  Store store = create();
  EXPECT_EQ(run(store).blocks, 8);
  EXPECT_EQ(profiled_arms(fake_.seen).size(), 2U);
  fs::remove_all(folder_ / "run");
  fake_.seen.clear();
  options_.max_minutes = 159.0 / 60;
  Store other = create();
  EXPECT_THAT(
      error_of([&] { run(other); }).message(),
      testing::HasSubstr(
          "6 trials each, 20.0 s for one trial of each variant, and profiled trials of 20.0 s\n"));
}

TEST_F(TimedDriverTest, AsManyBlocksAsArePlannedAreEnough) {
  experiment_.config.measure.repeats = 2;
  options_.max_minutes = 1;
  Store store = create();
  EXPECT_EQ(run(store).end, RunEnd::complete);
}

TEST_F(TimedDriverTest, WithoutAWarmUpTheFirstBlocksShowTheTime) {
  experiment_.config.measure.warmups = 0;
  options_.max_minutes = 0.1;
  Store store = create();
  EXPECT_EQ(run(store).blocks, 2);
  EXPECT_EQ(time_warnings().size(), 1U);
}

TEST_F(TimedDriverTest, AResumedRunGoesOnAndForgetsThatItWasOutOfTime) {
  options_.max_minutes = 141.0 / 60;
  {
    Store store = create();
    run(store);
  }
  experiment_.config.measure.repeats = 10;
  Store again = Store::resume(folder_ / "run", header());
  EXPECT_EQ(run(again).end, RunEnd::complete);
  EXPECT_TRUE(time_warnings().empty());
}

TEST_F(DriverTest, ASignalStopsBeforeTheNextTrial) {
  StopRequest stop;
  options_.stop = &stop;
  fake_.change = [&](const TrialPlan& plan, TrialRun&) {
    if (plan.id == 3) stop.take(SIGHUP);
  };
  Store store = create();
  EXPECT_EQ(error_of([&] { run(store); }).code(), ExitCode::terminated);
  EXPECT_EQ(stored().trials.size(), 3U);
}

TEST_F(DriverTest, AFailedWarmUpIsAWarning) {
  experiment_.config.measure.repeats = 2;
  fake_.change = [](const TrialPlan& plan, TrialRun& run) {
    if (plan.block == 0 && plan.arm == "optimized") fail(run, "server exited with status 7");
  };
  Store store = create();
  run(store);
  const auto& warnings = stored().warnings;
  const auto found =
      std::ranges::find_if(warnings, [](const Note& note) { return note.code == "warmup_failed"; });
  ASSERT_NE(found, warnings.end());
  EXPECT_THAT(found->message, testing::HasSubstr("server exited with status 7"));
}

TEST_F(DriverTest, ATrialThatDiesOfTheRecorderIsRepeatedWithoutIt) {
  experiment_.config.measure.repeats = 2;
  experiment_.config.measure.meters = {"procfs", "heap"};
  int without = 0;
  int with = 0;
  fake_.change = [&](const TrialPlan& plan, TrialRun& run) {
    const ProcessSpec& process = plan.processes.front();
    ++(process.heap_dir ? with : without);
    if (!process.heap_dir) return;
    fail(run, process.role + " ended by SIGSYS");
    RoleData role;
    role.role = process.role;
    role.exit_signal = SIGSYS;
    run.trial.roles = {role};
  };
  Store store = create();
  run(store);
  EXPECT_EQ(with, 1);
  const RunData data = stored();
  EXPECT_EQ(static_cast<std::size_t>(without), data.trials.size());
  EXPECT_TRUE(std::ranges::all_of(
      data.trials, [](const TrialData& trial) { return trial.status == TrialStatus::ok; }));
}

TEST_F(DriverTest, ProgressCountsTrialsAndEstimatesTheRest) {
  std::vector<Progress> seen;
  options_.progress = [&](const Progress& progress) { seen.push_back(progress); };
  Store store = create();
  run(store);
  ASSERT_EQ(seen.size(), 7U);
  EXPECT_EQ(seen[0].done, 0);
  EXPECT_EQ(seen[0].total, 6);
  EXPECT_EQ(seen[0].block, 0);
  EXPECT_FALSE(seen[0].remaining_seconds);
  EXPECT_FALSE(seen[0].disk_bytes);
  EXPECT_GT(*seen[1].disk_bytes, 0);
  EXPECT_EQ(seen[2].block, 1);
  EXPECT_DOUBLE_EQ(*seen[2].remaining_seconds, 2.0);  // four trials of half a second
  EXPECT_EQ(seen[6].done, 6);
  EXPECT_EQ(seen[6].arm, "");
  EXPECT_DOUBLE_EQ(*seen[6].remaining_seconds, 0);
}

TEST_F(DriverTest, ProgressCountsATrialsOwnDirectoryOnce) {
  constexpr std::size_t kLarge = 4 << 20;
  fake_.change = [&](const TrialPlan& plan, TrialRun&) {
    fs::create_directories(plan.trial_dir);
    std::ofstream(plan.trial_dir / "database") << std::string(kLarge, 'x');
  };
  std::vector<Progress> seen;
  options_.progress = [&](const Progress& progress) { seen.push_back(progress); };
  Store store = create();
  run(store);
  EXPECT_GT(*seen.at(1).disk_bytes, kLarge);
  EXPECT_LT(*seen.at(1).disk_bytes, 2 * kLarge) << "six trials, one after the other";
}

TEST_F(DriverTest, ProgressEstimatesTheChangeAfterTwoBlocks) {
  fake_.change = [&](const TrialPlan& plan, TrialRun& run) {
    RoleData all;
    all.role = "all";
    all.metrics["peak_rss_bytes"] = plan.arm == "b" ? 50 : 100;
    run.trial.roles = {all};
  };
  std::vector<Progress> seen;
  options_.progress = [&](const Progress& progress) { seen.push_back(progress); };
  Store store = create();
  run(store);
  ASSERT_EQ(seen.size(), 7U);
  EXPECT_TRUE(seen[5].changes.empty()) << "the second block has one trial yet to come";
  ASSERT_EQ(seen[6].changes.size(), 1U);
  EXPECT_EQ(seen[6].changes[0].blocks, 2);
}

TEST_F(DriverTest, NotesOfTrialsAreStoredOnce) {
  fake_.change = [](const TrialPlan&, TrialRun& run) {
    run.limitations.push_back({"no_cgroup", "no cgroup here", ""});
    run.warnings.push_back({"swap", "pages were swapped", ""});
  };
  Store store = create();
  run(store);
  EXPECT_EQ(stored().limitations.size(), 1U);
  EXPECT_EQ(stored().warnings.size(), 1U);
}

TEST_F(DriverTest, ProfileTrialsFollowTheLastBlockAndAreNotRepeated) {
  experiment_.config.measure.repeats = 2;
  experiment_.config.profile = ProfileSettings{.trials = 2};
  {
    Store store = create();
    run(store);
  }
  std::vector<std::pair<std::string, int>> profiled;
  for (const TrialPlan& plan : fake_.seen)
    if (plan.kind == TrialKind::profile) profiled.emplace_back(plan.arm, plan.block);
  const std::vector<std::pair<std::string, int>> expected = {{"original", kProfileBlock},
                                                             {"original", kProfileBlock},
                                                             {"optimized", kProfileBlock},
                                                             {"optimized", kProfileBlock}};
  EXPECT_EQ(profiled, expected);
  EXPECT_EQ(fake_.seen.back().kind, TrialKind::profile) << "after every measure trial";
  const std::size_t before = fake_.seen.size();
  Store again = resume();
  run(again);
  EXPECT_EQ(fake_.seen.size(), before);
}

TEST_F(DriverTest, ArmsToProfileAreAskedForOnceAllBlocksAreThere) {
  options_.arms_to_profile = [](const RunData& so_far) {
    EXPECT_EQ(so_far.trials.size(), 6U);
    return std::vector<std::string>{"optimized"};
  };
  {
    Store store = create();
    run(store);
  }
  EXPECT_EQ(profiled_arms(fake_.seen), std::vector<std::string>{"optimized"});
  Store again = resume();
  options_.arms_to_profile = [](const RunData&) {
    return std::vector<std::string>{"original", "optimized"};
  };
  run(again);
  EXPECT_EQ(profiled_arms(fake_.seen), (std::vector<std::string>{"optimized", "original"}))
      << "what is there is used again";
}

TEST_F(DriverTest, ProfileTrialsOfSmallProgramsRecordEveryAllocation) {
  for (const auto& [allocations, expected] : {std::pair{1e3, "exact"}, {1e7, "sampled"}}) {
    fs::remove_all(folder_ / "run");
    std::string mode;
    fake_.change = [&, count = allocations](const TrialPlan& plan, TrialRun& trial) {
      if (plan.kind == TrialKind::profile)
        mode = plan.processes.at(0).env.at("MEMDUEL_RECORDER_MODE");
      trial.trial.roles[0].metrics["allocation_count"] = count;
    };
    experiment_.config.profile = ProfileSettings{.trials = 1};
    Store store = create();
    run(store);
    EXPECT_EQ(mode, expected);
  }
}

using Profiled = std::vector<std::pair<std::string, std::string>>;

Profiled profiled_by(const std::vector<TrialPlan>& plans) {
  Profiled found;
  for (const TrialPlan& plan : plans)
    if (plan.kind == TrialKind::profile) found.emplace_back(plan.tracer, plan.arm);
  return found;
}

TEST_F(DriverTest, EveryTracerLooksAtEveryArmAndResumingAddsOnlyWhatIsMissing) {
  experiment_.config.profile =
      ProfileSettings{.profilers = {"gperftools", "recorder"}, .trials = 1};
  options_.progress = [](const Progress& progress) {
    EXPECT_EQ(progress.total, 10) << "three blocks and two profilers of two variants";
  };
  int left = 1;
  fake_.change = [&](const TrialPlan& plan, TrialRun&) {
    if (plan.kind == TrialKind::profile && left-- == 0)
      throw Error(ExitCode::interrupted, "stopped by a signal");
  };
  {
    Store store = create();
    EXPECT_EQ(error_of([&] { run(store); }).code(), ExitCode::interrupted);
  }
  fake_.seen.clear();
  Store again = resume();
  run(again);
  EXPECT_EQ(
      profiled_by(fake_.seen),
      (Profiled{{"gperftools", "optimized"}, {"recorder", "original"}, {"recorder", "optimized"}}));
  EXPECT_EQ(stored().trials.size(), 10U);
  EXPECT_EQ(stored().trials.back().tracer, "recorder");
}

TEST_F(DriverTest, ATracerThatIsNotHereIsALimitationUntilItIs) {
  experiment_.config.profile =
      ProfileSettings{.profilers = {"heaptrack", "gperftools"}, .trials = 1};
  bool installed = false;
  options_.tracer_works = [&](const TracerEntry& entry) {
    return entry.name == "gperftools" && !installed
               ? Availability{false, "libtcmalloc.so.4 was not found"}
               : Availability{true, {}};
  };
  {
    Store store = create();
    run(store);
  }
  const auto missing = [&] {
    std::vector<std::string> notes;
    for (const Note& note : stored().limitations)
      if (note.code == "profiler_missing") notes.push_back(note.message + "; " + note.advice);
    return notes;
  };
  EXPECT_THAT(missing(), testing::ElementsAre("gperftools is not available: libtcmalloc.so.4 was "
                                              "not found; apt-get install "
                                              "libgoogle-perftools4"));
  EXPECT_EQ(profiled_by(fake_.seen),
            (Profiled{{"heaptrack", "original"}, {"heaptrack", "optimized"}}));
  installed = true;
  Store again = resume();
  run(again);
  EXPECT_THAT(missing(), testing::IsEmpty());
  EXPECT_EQ(profiled_by(fake_.seen).size(), 4U);
}

// The programs of this experiment are no Python, which whoever would profile them refuses.
TEST_F(DriverTest, ATracerOfPythonIsCheckedOnceByTheShareThatProfiles) {
  experiment_.config.profile = ProfileSettings{.profilers = {"memray"}, .trials = 1};
  bool has_scripts = true;
  options_.tracer_works = [&](const TracerEntry&) {
    return Availability{has_scripts, has_scripts ? "" : "sitecustomize.py is missing"};
  };
  experiment_.config.measure.repeats = 4;
  for (const int share : {1, 2}) {
    options_.share = Share{share, 2};
    fs::remove_all(folder_ / "run");
    Store store = create();
    if (share == 1)
      EXPECT_THAT(error_of([&] { run(store); }).what(),
                  testing::HasSubstr("memray records Python programs"));
    else
      EXPECT_EQ(run(store).blocks, 2);
  }
  options_.share.reset();
  has_scripts = false;
  fs::remove_all(folder_ / "run");
  {
    Store store = create();
    run(store);
  }
  ASSERT_EQ(stored().limitations.front().code, "profiler_missing");
  EXPECT_EQ(stored().limitations.front().advice, "") << "no package has memduel's own script";
  has_scripts = true;
  Store again = resume();
  EXPECT_NO_THROW(run(again));
}

TEST_F(DriverTest, WithoutAnyTracerTheMeasureTrialsRun) {
  experiment_.config.profile = ProfileSettings{.profilers = {"jemalloc"}, .trials = 1};
  options_.tracer_works = [](const TracerEntry&) { return Availability{false, "not found"}; };
  Store store = create();
  EXPECT_EQ(run(store).blocks, 2);
  EXPECT_EQ(profiled_by(fake_.seen).size(), 0U);
  EXPECT_EQ(stored().limitations.at(0).code, "profiler_missing");
}

TEST_F(DriverTest, AProfileTrialThatFailsIsAWarningAndNotRepeated) {
  experiment_.config.profile = ProfileSettings{.profilers = {"jemalloc"}, .trials = 1};
  fake_.change = [](const TrialPlan& plan, TrialRun& trial) {
    if (plan.kind == TrialKind::profile) fail(trial, "server: killed by signal 6");
  };
  Store store = create();
  EXPECT_EQ(run(store).blocks, 2);
  std::vector<std::string> failures;
  for (const Note& note : stored().warnings)
    if (note.code == "profile_failed") failures.push_back(note.message);
  EXPECT_THAT(failures,
              testing::ElementsAre("the profiled trial of variant original with jemalloc failed: "
                                   "server: killed by signal 6",
                                   "the profiled trial of variant optimized with jemalloc failed: "
                                   "server: killed by signal 6"));
  EXPECT_THAT(stored().limitations,
              testing::Contains(testing::Field(&Note::code, "profiler_replaces_allocator")));
}

}  // namespace
}  // namespace memduel
