#include "workloads/simulation/estimates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

TEST(ParallelClients, AutoIsSixtyPercentOfMemoryOverFourStatesAndAtMostEight) {
  // 600 MiB usable, 4 × 25 MiB each.
  EXPECT_EQ(parallel_clients(-1, 25 * kMiB, 1000 * kMiB, 8), 6);
  EXPECT_EQ(parallel_clients(-1, kMiB, 1000 * kMiB, 8), 8);
  EXPECT_EQ(parallel_clients(-1, kMiB, 1000 * kMiB, 2), 2);
  EXPECT_EQ(parallel_clients(-1, 500 * kMiB, 1000 * kMiB, 8), 1);
  EXPECT_EQ(parallel_clients(-1, kMiB, 0, 8), 1);
}

TEST(ParallelClients, ANumberIsTakenWhereItFits) {
  EXPECT_EQ(parallel_clients(0, kMiB, 0, 8), 1);
  EXPECT_EQ(parallel_clients(1, 500 * kMiB, 1000 * kMiB, 8), 1);
  EXPECT_EQ(parallel_clients(6, 25 * kMiB, 1000 * kMiB, 8), 6);
}

TEST(ParallelClients, MoreThanMemoryHoldsIsRefusedWithTheArithmetic) {
  try {
    parallel_clients(7, 25 * kMiB, 1000 * kMiB, 8);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.message(),
              "workload.parallel_clients: found 7, expected at most 6: 7 × 4 states × 25.0 MiB = "
              "700.0 MiB, and 60 % of the 1000.0 MiB that are available is 600.0 MiB\n"
              "  -1 takes as many as fit");
  }
}

// The guide's tables.
TEST(Estimates, AreTheGuides) {
  EXPECT_EQ(published_estimate("csfl-cnn")->with_gradients_bytes, 200 * kMiB);
  EXPECT_EQ(published_estimate("csfl-light-cnn")->base_bytes, 75 * kMiB);
  EXPECT_EQ(published_estimate("resnet18")->with_gradients_bytes, 500 * kMiB);
  EXPECT_FALSE(published_estimate("mnist-cnn"));
  EXPECT_EQ(formula_client_bytes(10), 40);
}

TEST(RecommendedSettings, AreThoseOfTheLargestDeviceThatIsNoLarger) {
  EXPECT_FALSE(recommended_settings(4 * kGiB - 1));
  EXPECT_EQ(recommended_settings(4 * kGiB)->parallel_clients, 2);
  EXPECT_EQ(recommended_settings(11 * kGiB)->most_rounds, 200);
  EXPECT_EQ(recommended_settings(12 * kGiB)->most_per_round, 50);
  EXPECT_EQ(recommended_settings(80 * kGiB)->most_clients, 1000);
  EXPECT_FALSE(recommended_settings(80 * kGiB)->most_rounds);
}

}  // namespace
}  // namespace memduel
