#include "budget/measured_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A training of known peaks; more than the budget does not fit, and every try is remembered.
struct KnownTraining {
  std::function<double(std::int64_t)> peak;
  double budget = 0;
  std::vector<std::int64_t> tried = {};  // NOLINT(readability-redundant-member-init): -Wextra

  PeakOfBatch steps() {
    return [this](std::int64_t batch) -> std::optional<double> {
      tried.push_back(batch);
      const double bytes = peak(batch);
      return bytes > budget ? std::nullopt : std::optional(bytes);
    };
  }
};

std::function<double(std::int64_t)> straight(double fixed, double per_sample) {
  return [=](std::int64_t batch) { return fixed + per_sample * static_cast<double>(batch); };
}

// 0.96 × 100,000 = 96,000; (96,000 - 1,000) / 100 = 950. The line promises 990 of the whole budget:
// 256 is eight times 32, 495 is half.
TEST(MeasuredBatch, ExtrapolatesAStraightLineWithoutTryingTheAnswer) {
  KnownTraining training{straight(1000, 100), 100'000};
  const FoundBatch found = measure_batch(training.budget, {8, 8192}, training.steps());
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(found.batch, 950);
  EXPECT_DOUBLE_EQ(found.fixed_bytes, 1000);
  EXPECT_DOUBLE_EQ(found.sample_bytes, 100);
  EXPECT_DOUBLE_EQ(found.estimated_bytes, 96'000);
  EXPECT_THAT(training.tried, ElementsAre(16, 32, 256, 495));
}

// Up to 500 samples an optimizer's step of 50,000 is the peak, then 100 a sample.
TEST(MeasuredBatch, SeesWhereAnotherPartOfTheStepBecomesTheLargest) {
  KnownTraining training{
      [](std::int64_t batch) { return std::max(50'000.0, 100.0 * static_cast<double>(batch)); },
      200'000};
  const FoundBatch found = measure_batch(training.budget, {8, 1'000'000}, training.steps());
  const double peak = training.peak(found.batch);
  EXPECT_LE(peak, training.budget);
  EXPECT_GE(peak, 0.85 * training.budget);
}

TEST(MeasuredBatch, StaysWithinFifteenPercentOverManyTrainings) {
  for (const double fixed : {0.0, 1e6, 4.5e7})
    for (const double per_sample : {300.0, 41'000.0, 1.2e6})
      for (const double flat : {0.0, 6e7})
        for (const double budget : {1e8, 3e8, 5e9}) {
          KnownTraining training{[=](std::int64_t batch) {
                                   return std::max(flat,
                                                   fixed + per_sample * static_cast<double>(batch));
                                 },
                                 budget};
          const FoundBatch found =
              measure_batch(budget, {1, std::int64_t{1} << 40}, training.steps());
          EXPECT_LE(training.peak(found.batch), budget);
          EXPECT_GE(training.peak(found.batch), 0.85 * budget);
        }
}

TEST(MeasuredBatch, GoesBelowSixteenWhereTheBudgetDoes) {
  KnownTraining training{straight(1000, 100), 2000};
  const FoundBatch found = measure_batch(training.budget, {2, 8192}, training.steps());
  EXPECT_THAT(training.tried, ElementsAre(16, 8, 4));
  EXPECT_EQ(found.batch, 9) << "(0.96 × 2,000 - 1,000) / 100";
}

TEST(MeasuredBatch, StaysWithinTheBounds) {
  KnownTraining training{straight(0, 1), 1e9};
  const FoundBatch most = measure_batch(training.budget, {8, 100}, training.steps());
  EXPECT_EQ(most.batch, 100);
  EXPECT_TRUE(most.fits);
  KnownTraining tight{straight(1000, 100), 1500};
  const FoundBatch least = measure_batch(tight.budget, {8, 100}, tight.steps());
  EXPECT_EQ(least.batch, 8);
  EXPECT_FALSE(least.fits);
  EXPECT_THAT(least.peaks, IsEmpty());
}

// 990 fit. 8, 16, … 512 do, 1,024 do not; the gap is halved until it is at most a sixteenth.
TEST(SearchedBatch, DoublesAndThenHalvesTheGap) {
  KnownTraining training{straight(1000, 100), 100'000};
  const FoundBatch found = search_batch({8, 8192}, training.steps());
  EXPECT_THAT(training.tried, ElementsAre(8, 16, 32, 64, 128, 256, 512, 1024, 768, 896, 960, 992));
  EXPECT_EQ(found.batch, 960);
  EXPECT_DOUBLE_EQ(found.estimated_bytes, 97'000) << "its own peak";
}

TEST(SearchedBatch, EndsAtTheBounds) {
  KnownTraining training{straight(0, 1), 1e9};
  EXPECT_EQ(search_batch({8, 100}, training.steps()).batch, 100);
  EXPECT_THAT(training.tried, ElementsAre(8, 16, 32, 64, 100));
  KnownTraining tight{straight(1000, 100), 1500};
  const FoundBatch none = search_batch({8, 100}, tight.steps());
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.batch, 8);
}

}  // namespace
}  // namespace memduel
