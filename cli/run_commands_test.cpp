#include "run_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;

std::optional<int> repeats_of(std::optional<int> least, std::optional<int> most,
                              std::size_t variants) {
  RunOptions options;
  options.min_repeats = least;
  options.max_repeats = most;
  return repeats_within_bounds(options, variants);
}

TEST(RepeatsWithinBounds, AreChosenByMemduelIfItStaysWithinTheBounds) {
  EXPECT_EQ(repeats_of({}, {}, 2), std::nullopt);
  EXPECT_EQ(repeats_of(6, 16, 2), std::nullopt) << "after 6, 10 or 16 trials";
  EXPECT_EQ(repeats_of(3, 100, 2), std::nullopt);
  EXPECT_EQ(repeats_of(8, 16, 3), std::nullopt) << "after 8 or 16 trials";
  EXPECT_EQ(repeats_of(10, 10, 1), std::nullopt) << "one command has 10 trials";
}

TEST(RepeatsWithinBounds, AreTheBoundThatMemduelCouldExceed) {
  EXPECT_EQ(repeats_of(7, {}, 2), 7);
  EXPECT_EQ(repeats_of(20, 50, 2), 20);
  EXPECT_EQ(repeats_of({}, 15, 2), 15);
  EXPECT_EQ(repeats_of(3, 8, 2), 8);
  EXPECT_EQ(repeats_of(9, 16, 3), 9);
  EXPECT_EQ(repeats_of({}, 5, 1), 5);
  EXPECT_EQ(repeats_of(12, {}, 1), 12);
}

TEST(RepeatsWithinBounds, AreRefusedIfTheyContradict) {
  const auto refusal = [](const RunOptions& options) -> std::string {
    try {
      repeats_within_bounds(options, 2);
    } catch (const Error& error) {
      return error.message();
    }
    return "accepted";
  };
  RunOptions options;
  options.repeats = 5;
  EXPECT_EQ(repeats_within_bounds(options, 2), 5);
  options.max_repeats = 8;
  EXPECT_THAT(refusal(options), HasSubstr("expected --runs, or --min-runs and --max-runs"));
  options.repeats.reset();
  options.min_repeats = 9;
  EXPECT_THAT(refusal(options), HasSubstr("at most --max-runs, found 9 and 8"));
}

}  // namespace
}  // namespace memduel::cli
