#include "run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel::cli {
namespace {

using testing::ElementsAre;

RunOptions parsed(const std::string& line) {
  CLI::App app{"about", "memduel"};
  RunOptions options;
  add_out(app, options);
  add_resume(app, options);
  add_plan_options(app, options);
  add_arms(app, options);
  add_config_options(app, options);
  add_gate_options(app, options.gate);
  add_no_defaults(app, options.gate);
  add_report_options(app, options);
  app.parse(line);
  return options;
}

TEST(RunOptions, AreUnsetUnlessGiven) {
  const RunOptions options = parsed("");
  EXPECT_FALSE(options.out || options.repeats || options.max_minutes || options.seed);
  EXPECT_FALSE(options.resume || options.gate.no_defaults || options.warmups);
  EXPECT_EQ(options.gate.inconclusive(), OnInconclusive::beyond);
}

TEST(RunOptions, WhatIsRepeatedKeepsItsOrder) {
  const RunOptions options = parsed("--gate a.b<=1% --set x=1 --gate c.d<=2% --set y=2");
  EXPECT_THAT(options.gate.named, ElementsAre("a.b<=1%", "c.d<=2%"));
  EXPECT_THAT(options.set, ElementsAre("x=1", "y=2"));
}

TEST(RunOptions, ArmsAreAList) {
  EXPECT_THAT(parsed("--variants a,b").arms, ElementsAre("a", "b"));
}

TEST(RunOptions, AnUndecidedGateFailsOnlyWhereItIsAskedTo) {
  EXPECT_EQ(parsed("--on-inconclusive fail").gate.on_inconclusive, OnInconclusive::fail);
  EXPECT_EQ(parsed("--on-inconclusive pass").gate.on_inconclusive, OnInconclusive::pass);
  EXPECT_THROW(parsed("--on-inconclusive maybe"), CLI::ValidationError);
}

TEST(RunOptions, QuietAndVerboseExcludeEachOther) {
  EXPECT_THROW(parsed("--quiet --verbose"), CLI::ExcludesError);
  EXPECT_TRUE(parsed("--verbose").verbose);
}

TEST(RunOptions, NumbersOutsideTheirRangeAreRefused) {
  for (const char* line : {"--repeats 0", "--repeats 10001", "--repeats nan", "--max-minutes 0",
                           "--max-minutes inf", "--seed -1", "--seed 18446744073709551615"})
    EXPECT_THROW(parsed(line), CLI::ParseError) << line;
}

}  // namespace
}  // namespace memduel::cli
