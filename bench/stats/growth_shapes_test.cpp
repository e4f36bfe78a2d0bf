#include "growth_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/samples.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<double> levels(const std::vector<double>& heights, size_t length, double noise) {
  Random random(3);
  std::vector<double> y;
  for (const double height : heights) {
    for (size_t i = 0; i < length; ++i) y.push_back(height + noise * random.normal());
  }
  return y;
}

TEST(FindSteps, FindsOneJumpWhereItIs) {
  EXPECT_THAT(find_steps(levels({200, 264}, 20, 1)), ElementsAre(20));
}

TEST(FindSteps, FindsTwoJumps) {
  EXPECT_THAT(find_steps(levels({200, 264, 328}, 20, 1)), ElementsAre(20, 40));
}

TEST(FindSteps, FindsNoneInNoise) {
  EXPECT_THAT(find_steps(levels({200}, 60, 3)), IsEmpty());
}

TEST(FindSteps, FindsNoneInASteadyRise) {
  std::vector<double> y;
  for (int i = 0; i < 70; ++i) y.push_back(200 + i);
  EXPECT_THAT(find_steps(y), IsEmpty());
}

TEST(FindSteps, FindsNoneInASeriesTooShortForTwoLevels) {
  EXPECT_THAT(find_steps(std::vector<double>{1, 1, 9, 9, 9}), IsEmpty());
}

}  // namespace
}  // namespace memduel
