// Simulated programs with a knee: what is found is held to where it is.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "util/error.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

constexpr double kMebibyte = 1 << 20;

/// Needs `knee` MiB, varied by `spread` (a share, normal) from run to run; a second long, varied by
/// `noise`.
struct Program {
  double knee;
  double spread = 0;
  double noise = 0;
  /// Slower by so much, as a share, where the limit is the knee; no slower where it is twice that.
  double slower_at_knee = 0;
  std::mt19937_64 random{1};

  LimitedRun operator()(std::int64_t bytes) {
    std::normal_distribution<double> normal;
    const double needs = knee * kMebibyte * (1 + spread * normal(random));
    const double over = static_cast<double>(bytes) / (knee * kMebibyte) - 1;
    const double slower = slower_at_knee * std::max(0.0, 1 - over);
    return {static_cast<double>(bytes) < needs, (1 + slower) * (1 + noise * normal(random)),
            "killed for memory"};
  }
  std::vector<double> unlimited() {
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back((*this)(std::int64_t{1} << 50).seconds);
    return seconds;
  }
};

Need need_of(Program program, double start_mib) {
  const std::vector<double> unlimited = program.unlimited();
  return find_need(unlimited, static_cast<std::int64_t>(start_mib * kMebibyte), {},
                   [&](std::int64_t bytes) { return program(bytes); });
}

TEST(Need, FindsTheKneeWithinTwoPercentFromAnyStart) {
  for (const double knee : {3.0, 100.0, 3000.0})
    for (const double start : {0.3, 0.9, 1.0, 1.5, 7.0}) {
      const Need need = need_of({.knee = knee}, knee * start);
      EXPECT_GE(need.bytes, knee * kMebibyte);
      EXPECT_LE(need.bytes, knee * kMebibyte * 1.021 + 4096);
      EXPECT_LT(need.too_little, knee * kMebibyte);
      EXPECT_EQ(need.failed, 0);
      EXPECT_EQ(need.why, "killed for memory");
      // After 0 of 20: 1 - .025^(1/20).
      EXPECT_NEAR(need.failure_rate.high, 1 - std::pow(0.025, 1.0 / 20), 1e-9);
    }
}

TEST(Need, IsRaisedUntilTheProgramIsNotMuchSlower) {
  // 5% slower where 30% (1 - over) = 5%: at 1.83 times the knee.
  const Need need = need_of({.knee = 100, .slower_at_knee = 0.3}, 150);
  EXPECT_NEAR(static_cast<double>(need.bytes) / kMebibyte, 183.3, 4);
  EXPECT_NE(need.why.find("slower"), std::string::npos) << need.why;
  EXPECT_LE(need.slowdown, 0.05);
}

TEST(Need, OfFreshRunsFailsWithinTheIntervalThatItStates) {
  int outside = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Program program{.knee = 200, .spread = 0.01, .noise = 0.005};
    program.random.seed(seed);
    const Need need = need_of(program, 210);
    EXPECT_NEAR(static_cast<double>(need.bytes) / kMebibyte, 200, 10) << "the knee within 5%";
    program.random.seed(seed + 1000);
    int failed = 0;
    for (int i = 0; i < 200; ++i) failed += program(need.bytes).failed ? 1 : 0;
    outside += failed > 200 * need.failure_rate.high ? 1 : 0;
  }
  EXPECT_LE(outside, 2) << "of 40 with 95%";
}

TEST(Need, DoesNotTakeNoiseForSlowness) {
  int far = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    Program program{.knee = 100, .noise = 0.1};
    program.random.seed(seed);
    const Need need = need_of(program, 140);
    far += static_cast<double>(need.bytes) > 103 * kMebibyte ? 1 : 0;
  }
  EXPECT_LE(far, 10) << "of 100: up to ten limits are tried, each with a chance of 1%";
}

TEST(Need, UnderALimitThatOnlyLetsFailIsNotAskedForItsTime) {
  Program program{.knee = 100, .slower_at_knee = 0.3};
  const std::vector<double> unlimited = program.unlimited();
  NeedOptions options;
  options.may_slow_down = false;
  const Need need = find_need(unlimited, static_cast<std::int64_t>(150 * kMebibyte), options,
                              [&](std::int64_t bytes) { return program(bytes); });
  EXPECT_NEAR(static_cast<double>(need.bytes) / kMebibyte, 101, 1.1);
}

TEST(Need, OfAProgramThatAlwaysFailsIsAnError) {
  EXPECT_THROW(find_need({1, 1, 1}, 1 << 20, {},
                         [](std::int64_t) { return LimitedRun{true, 1, "exited with status 3"}; }),
               Error);
}

TEST(Need, OfAProgramThatFailsNowAndThenUnderAnyLimitIsAnErrorAndEnds) {
  int runs = 0;
  EXPECT_THROW(find_need({1, 1, 1}, 1 << 24, {},
                         [&](std::int64_t) {
                           return LimitedRun{++runs % 15 == 0, 1, "exited with status 3"};
                         }),
               Error);
}

TEST(Need, OfAProgramThatFitsAnywhereIsTheLeastThatIsTried) {
  const Need need = need_of({.knee = 0.001}, 50);
  EXPECT_EQ(need.bytes, 1 << 20);
  EXPECT_EQ(need.too_little, 0);
}

}  // namespace
}  // namespace memduel
