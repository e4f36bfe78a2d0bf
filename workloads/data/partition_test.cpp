#include "data/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/random.h"
#include "util/error.h"

namespace memduel {
namespace {

std::vector<std::uint8_t> ten_classes(std::size_t count) {
  std::vector<std::uint8_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  return labels;
}

/// Every number below `count` exactly once over all shares.
void expect_exact_cover(const std::vector<Indices>& shares, std::size_t count) {
  std::set<std::size_t> seen;
  std::size_t total = 0;
  for (const Indices& share : shares) {
    seen.insert(share.begin(), share.end());
    total += share.size();
  }
  EXPECT_EQ(total, count);
  EXPECT_EQ(seen.size(), count);
}

TEST(SplitTrainValidation, PartsAreDisjointAndCoverEverything) {
  const Split split = split_train_validation(10000, 8000, 42);
  EXPECT_EQ(split.train.size(), 8000U);
  expect_exact_cover({split.train, split.validation}, 10000);
}

TEST(SplitTrainValidation, SeedDecides) {
  EXPECT_EQ(split_train_validation(100, 80, 1).train, split_train_validation(100, 80, 1).train);
  EXPECT_NE(split_train_validation(100, 80, 1).train, split_train_validation(100, 80, 2).train);
}

TEST(SplitTrainValidation, MoreTrainingSamplesThanThereAreIsRefused) {
  EXPECT_THROW(split_train_validation(10, 11, 1), Error);
}

TEST(Partition, IidSharesCoverAllAndDifferByAtMostOne) {
  const auto shares = partition(ten_classes(1001), {PartitionKind::iid, 4, 7});
  expect_exact_cover(shares, 1001);
  for (const Indices& share : shares) EXPECT_NEAR(static_cast<double>(share.size()), 250.5, 1.0);
}

TEST(Partition, ClassNoniidLeavesClassesOutAndCoversAll) {
  const auto labels = ten_classes(2000);
  const auto shares = partition(labels, {PartitionKind::class_noniid, 2, 3});
  expect_exact_cover(shares, 2000);
  for (const Indices& share : shares) {
    std::set<std::uint8_t> classes;
    for (const std::size_t i : share) classes.insert(labels[i]);
    // APPFL's range for two clients.
    EXPECT_GE(classes.size(), 7U);
    EXPECT_LE(classes.size(), 8U);
  }
}

TEST(Partition, DirichletCoversAllAndIsSkewedForSmallAlpha) {
  const auto shares = partition(ten_classes(2000), {PartitionKind::dirichlet, 3, 5, 0.1});
  expect_exact_cover(shares, 2000);
  const auto [smallest, largest] =
      std::ranges::minmax_element(shares, [](auto& a, auto& b) { return a.size() < b.size(); });
  EXPECT_GT(largest->size(), smallest->size() + 100);
}

TEST(Partition, NoClientsIsRefused) {
  EXPECT_THROW(partition(ten_classes(10), {PartitionKind::iid, 0, 1}), Error);
}

TEST(Partition, FewerSamplesThanClientsIsRefused) {
  EXPECT_THROW(partition(ten_classes(3), {PartitionKind::iid, 4, 1}), Error);
}

// The 10,000th output of a default-seeded engine, fixed by the C++ standard [rand.predef].
TEST(RandomEngine, IsTheStandardsMersenneTwister) {
  RandomEngine engine;
  engine.discard(9999);
  EXPECT_EQ(engine(), 9981545732273789042U);
}

TEST(Random, NormalNumbersHaveMeanZeroAndDeviationOne) {
  RandomEngine engine(1);
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double x = standard_normal(engine);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / kCount), 1, 0.02);
}

}  // namespace
}  // namespace memduel
