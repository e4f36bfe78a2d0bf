#include "training/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "training/test_checkpoint_files.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Epochs 0, 1, … with these kappas, a day apart, the last one 30 days old.
std::vector<Checkpoint> series(const std::vector<double>& kappas) {
  std::vector<Checkpoint> checkpoints;
  for (std::size_t i = 0; i < kappas.size(); ++i) {
    const auto days = static_cast<std::int64_t>(30 + kappas.size() - 1 - i);
    const DirectoryEntry file{"epoch" + std::to_string(i), EntryKind::file, 1,
                              kTestNow - days * kDayNs, i};
    checkpoints.push_back(
        {file, std::nullopt, static_cast<std::int64_t>(i), {{"kappa", kappas[i]}}});
  }
  return checkpoints;
}

std::vector<std::size_t> removed(const std::vector<Checkpoint>& checkpoints, std::size_t keep,
                                 double days = 7, Better better = Better::highest) {
  return superfluous_checkpoints(checkpoints, {"kappa", better, keep, days}, kTestNow);
}

// The newest two are 4 and 5; retention by age alone would lose the best two, 2 and 3.
TEST(Retention, OfARisingAndFallingSeriesTheBestStay) {
  EXPECT_THAT(removed(series({0.1, 0.3, 0.8, 0.7, 0.4, 0.2}), 2), ElementsAre(0, 1, 4));
}

// As CBraMod's code does: the best two are gone, and nobody asks for age.
TEST(Retention, ByAgeTheNewestStay) {
  EXPECT_THAT(
      superfluous_checkpoints(series({0.1, 0.3, 0.8, 0.7, 0.4, 0.2}),
                              {"kappa", Better::highest, 2, 1000, Ranking::by_age}, kTestNow),
      ElementsAre(0, 1, 2, 3));
}

TEST(Retention, LowestCanBeTheBest) {
  EXPECT_THAT(removed(series({0.1, 0.3, 0.8, 0.7}), 1, 7, Better::lowest), ElementsAre(1, 2));
}

TEST(Retention, TheNewestStaysThoughItIsTheWorst) {
  EXPECT_THAT(removed(series({0.9, 0.8, 0.1}), 1), ElementsAre(1));
}

TEST(Retention, NothingIsRemovedAtTheLimitOfAge) {
  EXPECT_THAT(removed(series({0.5, 0.9, 0.8}), 1, 32), IsEmpty());
  EXPECT_THAT(removed(series({0.5, 0.9, 0.8}), 1, 31.999), ElementsAre(0));
}

TEST(Retention, WhatComesFromTheFutureStays) {
  std::vector<Checkpoint> checkpoints = series({0.1, 0.2, 0.3});
  for (Checkpoint& checkpoint : checkpoints) checkpoint.file.modified_ns += 100 * kDayNs;
  EXPECT_THAT(removed(checkpoints, 1, 0), IsEmpty());
}

TEST(Retention, OfTiesTheNewerIsBetter) {
  EXPECT_THAT(removed(series({0.5, 0.5, 0.5, 0.4}), 2), ElementsAre(0));
}

TEST(Retention, OfEqualTimesTheLaterEpochIsNewer) {
  std::vector<Checkpoint> checkpoints = series({0.9, 0.5, 0.5, 0.4});
  for (Checkpoint& checkpoint : checkpoints) checkpoint.file.modified_ns = kTestNow - 30 * kDayNs;
  EXPECT_THAT(removed(checkpoints, 2), ElementsAre(1));
}

TEST(Retention, WhatIsNotANumberIsWorst) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(removed(series({nan, 0.1, infinity, 0.2, 0.05}), 2), ElementsAre(0, 2));
}

TEST(Retention, ACheckpointWithoutTheMetricStays) {
  std::vector<Checkpoint> checkpoints = series({0.1, 0.2, 0.3});
  checkpoints[0].metrics = {{"acc", 0.1}};
  EXPECT_THAT(removed(checkpoints, 1), ElementsAre(1));
}

TEST(Retention, TheBestStaysWhateverIsAskedFor) {
  EXPECT_THAT(removed(series({0.9, 0.1, 0.2}), 0), ElementsAre(1));
}

TEST(Retention, OfNothingNothingGoes) {
  EXPECT_THAT(removed({}, 5), IsEmpty());
}

}  // namespace
}  // namespace memduel
