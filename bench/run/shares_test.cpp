#include "run/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "run/run.h"
#include "support/small_experiment.h"
#include "test_trials.h"
#include "util/error.h"
#include "util/file.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kBlocks = 8;
constexpr std::uint64_t kSeed = 7;

/// Every number follows from the block and the arm, so that it does not matter who measures.
TrialRun simulated(const TrialPlan& plan, double node) {
  TrialRun run;
  run.trial = full_trial(0, plan.block, plan.arm);
  run.trial.id = plan.id;
  run.trial.position = plan.position;
  run.trial.kind = plan.kind;
  run.trial.tracer = plan.tracer;
  run.trial.model_sha256.reset();
  const double arm = plan.arm == "original" ? 200 : 150;
  for (RoleData& role : run.trial.roles)
    role.metrics["peak_rss_bytes"] = node * (arm + 5 * std::sin(plan.block));
  write_file_atomically(plan.trial_dir / "final_model.bin", "weights");
  write_file_atomically(plan.log_dir / (std::to_string(plan.id) + "-server.stdout"),
                        std::to_string(plan.block) + plan.arm);
  return run;
}

class Shares : public TestFolder {
 protected:
  Shares() {
    experiment_.config.measure.repeats = kBlocks;
    experiment_.config.measure.seed = kSeed;
  }

  /// @param node of what is measured there
  /// @param most trials that it comes to, warm-ups among them
  fs::path measured(const std::string& name, std::optional<Share> share, double node = 1,
                    std::optional<int> most = {}) {
    nlohmann::json environment = {{"fingerprint", node == 1 ? "f" : "g"}, {"cpu", "C"}};
    if (share) environment[kShareKey] = to_text(*share);
    Store store = Store::create(folder_ / name, {experiment_.config, experiment_.config_sha256,
                                                 experiment_.facts, environment, programs_});
    DriverOptions options;
    options.share = share;
    options.most_trials = most;
    run_experiment(
        experiment_, store, [&](const TrialPlan& plan) { return simulated(plan, node); }, options);
    return folder_ / name;
  }

  RunData merged(const std::vector<fs::path>& shares) {
    merge_shares(shares, folder_ / "merged");
    return read_run(folder_ / "merged");
  }

  std::string refusal(const std::vector<fs::path>& shares) {
    try {
      merge_shares(shares, folder_ / "merged");
    } catch (const Error& error) {
      EXPECT_FALSE(fs::exists(folder_ / "merged")) << "nothing half";
      return error.message();
    }
    return "";
  }

  Experiment experiment_ = federated_experiment();
  std::map<std::string, std::string> programs_ = {{"/bin/worker", "1234"}};
};

std::vector<std::string> codes_of(const std::vector<Note>& notes) {
  std::vector<std::string> codes;
  for (const Note& note : notes) codes.push_back(note.code);
  return codes;
}

TEST(ShareOf, DividesAPlanWithoutGapsOrOverlaps) {
  for (const int blocks : {2, 8, 10, 64})
    for (int of = 1; of <= blocks / 2; ++of) {
      int next = 0;
      for (int number = 1; number <= of; ++number) {
        const SuperblockRange range = superblocks_of({number, of}, blocks);
        EXPECT_EQ(range.first, next);
        EXPECT_GE(range.blocks(), 2);
        next = range.end;
      }
      EXPECT_EQ(2 * next, blocks);
    }
}

TEST(ShareOf, RefusesWhatIsNone) {
  for (const char* text : {"", "2", "0/4", "5/4", "-1/4", "1/0", "1/4x", "a/b", "1/ 4"})
    EXPECT_THROW(share_from(text, "--shard"), Error) << text;
  EXPECT_EQ(share_from("2/4", "").number, 2);
  EXPECT_THROW(superblocks_of({1, 2}, 7), Error);
  EXPECT_THROW(superblocks_of({1, 5}, 8), Error);
}

TEST_F(Shares, EachIsASegmentOfTheOrder) {
  const RunData run =
      merged({measured("a", Share{1, 3}), measured("b", Share{2, 3}), measured("c", Share{3, 3})});
  const auto order = run_order(run);
  ASSERT_TRUE(order) << "every trial ran where the order has it";
  EXPECT_EQ(order->plan.segments, (std::vector<int>{2, 2, 4}));
}

// In the order of earlier versions, which did not depend on the shares.
TEST_F(Shares, TogetherAreTheRunThatOneMachineWouldHaveMade) {
  experiment_.config.measure.order = BlockOrder::superblocks;
  const RunData whole = read_run(measured("whole", std::nullopt));
  const RunData run =
      merged({measured("c", Share{3, 3}), measured("a", Share{1, 3}), measured("b", Share{2, 3})});
  ASSERT_EQ(run.trials.size(), whole.trials.size());
  for (std::size_t i = 0; i < whole.trials.size(); ++i) {
    const TrialData& one = run.trials[i];
    const TrialData& other = whole.trials[i];
    EXPECT_EQ(std::tie(one.id, one.block, one.position, one.arm, one.kind, one.status),
              std::tie(other.id, other.block, other.position, other.arm, other.kind, other.status));
    ASSERT_EQ(one.roles.size(), other.roles.size());
    for (std::size_t role = 0; role < one.roles.size(); ++role) {
      EXPECT_EQ(one.roles[role].metrics, other.roles[role].metrics);
      EXPECT_EQ(one.roles[role].rounds.size(), other.roles[role].rounds.size());
      EXPECT_EQ(one.roles[role].series.size(), other.roles[role].series.size());
    }
    const std::string log = std::to_string(one.id) + "-server.stdout";
    EXPECT_EQ(read_file(folder_ / "merged/logs" / log), std::to_string(one.block) + one.arm);
  }
  EXPECT_EQ(run.config_sha256, whole.config_sha256);
  EXPECT_EQ(run.artifact_differences.size(), whole.artifact_differences.size());
  EXPECT_THAT(codes_of(run.warnings), testing::ElementsAreArray(codes_of(whole.warnings)));
  EXPECT_TRUE(fs::exists(folder_ / "merged/models"));
}

// A quarter of eight blocks: two warm-ups, and two arms of two blocks.
TEST_F(Shares, AreWholeWithEveryArmOfEveryBlock) {
  EXPECT_TRUE(is_whole_share(measured("whole", Share{1, 4})));
  const fs::path cut = measured("cut", Share{2, 4}, 1, 5);
  EXPECT_FALSE(is_whole_share(cut)) << "its second block has one variant only";
  EXPECT_FALSE(is_whole_share(measured("alone", {}))) << "is no share";
  EXPECT_FALSE(is_whole_share(folder_ / "nowhere"));
  const RunData run = merged({cut, folder_ / "whole"});
  EXPECT_THAT(codes_of(run.warnings), testing::Contains("shard_missing"));
  std::set<std::string> told;
  for (const Note& note : run.warnings)
    if (note.code == "shard_missing") told.insert(note.message);
  EXPECT_THAT(told, testing::Contains("shard 2/4 was not finished: of blocks 3 to 4 it has 1"));
}

TEST_F(Shares, MissingOrUnfinishedAreNamed) {
  const RunData run = merged({measured("a", Share{1, 4}), measured("c", Share{3, 4})});
  std::vector<std::string> missing;
  for (const Note& note : run.warnings)
    if (note.code == "shard_missing") missing.push_back(note.message);
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(missing[0], "shard 2/4 is missing: of blocks 3 to 4 it has 0");
  EXPECT_THAT(missing[1], HasSubstr("shard 4/4"));
}

TEST_F(Shares, OfDifferentMachinesAreSaidToBe) {
  const RunData run = merged({measured("a", Share{1, 2}), measured("b", Share{2, 2}, 1.2)});
  EXPECT_THAT(codes_of(run.warnings), testing::Contains("machines_differ"));
  // Arms of one block were measured on one machine: their ratio does not know of it.
  std::map<int, std::map<std::string, double>> by_block;
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::measure)
      by_block[trial.block][trial.arm] = trial.roles[0].metrics.at("peak_rss_bytes");
  for (const auto& [block, arms] : by_block) {
    const double wave = 5 * std::sin(block);
    EXPECT_NEAR(arms.at("optimized") / arms.at("original"), (150 + wave) / (200 + wave), 1e-12);
  }
}

TEST_F(Shares, OfAnotherPlanBuildOrNumberAreRefused) {
  const fs::path first = measured("a", Share{1, 2});
  EXPECT_THAT(refusal({first, measured("whole", std::nullopt)}), HasSubstr("a complete run"));
  EXPECT_THAT(refusal({first, measured("again", Share{1, 2})}), HasSubstr("and so is"));
  EXPECT_THAT(refusal({first, measured("of4", Share{2, 4})}), HasSubstr("shard 2/4"));
  EXPECT_THAT(refusal({first, folder_ / "nothing"}), HasSubstr("not a run directory"));
  programs_["/bin/worker"] = "5678";
  EXPECT_THAT(refusal({first, measured("build", Share{2, 2})}), HasSubstr("another build"));
  programs_["/bin/worker"] = "1234";
  experiment_.config_sha256 = std::string(64, 'e');
  EXPECT_THAT(refusal({first, measured("plan", Share{2, 2})}), HasSubstr("another plan"));
}

TEST_F(Shares, AreNotMergedOverAnotherRun) {
  const std::vector<fs::path> shares = {measured("a", Share{1, 2}), measured("b", Share{2, 2})};
  merge_shares(shares, folder_ / "merged");
  EXPECT_THROW(merge_shares(shares, folder_ / "merged"), Error);
  EXPECT_THROW(merge_shares(shares, shares[0]), Error);
}

}  // namespace
}  // namespace memduel
