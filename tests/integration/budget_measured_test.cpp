// memduel budget where memduel-worker trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/budget_program.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// 63 % of 60 MiB. 21,840 parameters of 4 bytes, two states of each for Adam.
TEST(MeasuredBudget, TriesTheBatchThatItRecommends) {
  const Finished run = budget({"--measured", "--model", "csfl-cnn", "--dataset", "mnist",
                               "--device-memory", "60MiB", "--verify"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("device (cpu)            -           60.0 MiB\n"),
                             HasSubstr("may be used             -           37.8 MiB"),
                             HasSubstr("  parameters            85.3 KiB    "),
                             HasSubstr("  optimizer             170.6 KiB   "),
                             HasSubstr("one sample              3.07 KiB    "),
                             HasSubstr("estimated, true peak    36.3 MiB    36.")));
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("% of the budget of 37.8 MiB\n"), Not(HasSubstr("warning"))));
}

TEST(MeasuredBudget, FailsWhereEvenTheLeastBatchIsMoreThanMayBeUsed) {
  const Finished run = budget({"--measured", "--model", "csfl-cnn", "--dataset", "mnist",
                               "--device-memory", "60MiB", "--least-batch", "2000", "--verify"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("more than may be used\n"),
                             HasSubstr("warning: the least batch of 2000 does not fit\n")));
}

TEST(MeasuredBudget, TakesItsTrainingFromAConfig) {
  const Finished run = budget({MEMDUEL_CONFIGS "/csfl-stability-quick.json", "--device-memory",
                               "60MiB", "--most-batch", "40", "--arm", "optimized"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("batch                   40\n"),
                             HasSubstr("  optimizer             0 B")))
      << "a simulation trains with SGD";
}

TEST(MeasuredBudget, RefusesWhatCannotBeTrained) {
  const Finished unknown = budget({"--measured", "--model", "csfl-cn", "--dataset", "mnist"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"csfl-cnn\"?"));
  const Finished other = budget({"--measured", "--model", "csfl-cnn", "--dataset", "minst"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("mnist"));
  EXPECT_THAT(budget({"--measured", "--model", "csfl-cnn"}).err, HasSubstr("--dataset mnist"));
  const std::string config = MEMDUEL_CONFIGS "/csfl-stability-quick.json";
  EXPECT_THAT(budget({config, "--model", "csfl-cnn"}).err, HasSubstr("one of the two"));
  const Finished arm = budget({config, "--arm", "optimised"});
  EXPECT_EQ(arm.status, 2);
  EXPECT_THAT(arm.err, HasSubstr("--arm: found no arm \"optimised\""));
  const Finished state = budget({MEMDUEL_CONFIGS "/resnet-state-quick.json"});
  EXPECT_EQ(state.status, 2);
  EXPECT_THAT(state.err, HasSubstr("kind \"state-dict\" trains no model"));
}

}  // namespace
}  // namespace memduel
