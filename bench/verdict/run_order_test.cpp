#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/synthetic_run.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

/// The duel of six blocks of the first seed, in the order that it draws.
RunData in_order(int blocks) {
  std::vector<double> values;
  for (int block = 1; block <= blocks; ++block) values.push_back((100 + block) * 1048576.0);
  return in_restricted_order(make_duel("peak_rss_bytes", values, values), blocks);
}

std::size_t superblocks_of(const RunOrder& order) {
  std::size_t all = 0;
  for (const Segment& segment : order.segments) all += segment.superblocks.size();
  return all;
}

TEST(RunOrder, IsThatOfTheSeedWhereEveryTrialRanInIt) {
  const auto order = run_order(in_order(6));
  ASSERT_TRUE(order);
  EXPECT_EQ(superblocks_of(*order), 3U);
}

TEST(RunOrder, IsUnknownWhereATrialRanElsewhere) {
  RunData run = in_order(6);
  std::swap(run.trials.front().arm, run.trials.back().arm);
  for (TrialData& trial : run.trials) trial.position = (trial.position + 1) % 4;
  EXPECT_FALSE(run_order(run));
  const Results results = analyse(run, settings_from_config(run.config));
  EXPECT_EQ(results.order, "superblocks") << "what the test used";
  EXPECT_TRUE(std::ranges::any_of(results.limitations,
                                  [](const Note& note) { return note.code == "order_not_drawn"; }));
}

TEST(RunOrder, ReachesBeyondThePlanByPairsOfBlocks) {
  RunData six = in_order(6);
  const auto beyond = run_order(six);
  ASSERT_TRUE(beyond);
  const Segment pair = segment_at(beyond->plan, 3, 2);
  for (const int blocks : {1, 2}) {  // of the pair, as far as the run came
    RunData longer = six;
    std::vector<int> times(2, 0);
    for (std::size_t place = 0; place < pair.superblocks.front().size(); ++place) {
      TrialData trial = longer.trials.front();
      const std::size_t arm = pair.superblocks.front()[place];
      trial.arm = beyond->arms[arm];
      trial.block = 7 + times[arm]++;
      trial.position = static_cast<int>(place);
      if (trial.block < 7 + blocks) longer.trials.push_back(trial);
    }
    const auto order = run_order(longer);
    ASSERT_TRUE(order) << blocks;
    EXPECT_EQ(superblocks_of(*order), 4U);
  }
}

}  // namespace
}  // namespace memduel
