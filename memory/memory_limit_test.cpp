#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "memory/testing/bytes.h"
#include "memory/testing/prepared_system.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

class Pressure : public ::testing::Test {
 protected:
  PressureReading read(PressureOptions options = {}) const {
    options.root = system_.root();
    return MemoryPressure(options).read();
  }

  PreparedSystem system_;
};

TEST_F(Pressure, ThresholdsCountWhenTheyAreReached) {
  struct Case {
    std::int64_t used;
    MemoryLevel level;
  };
  // Of a limit of 100 MiB: a byte less, the threshold, a byte more.
  for (const auto& [used, level] :
       {Case{0, MemoryLevel::normal}, Case{85 * kMebi - 1, MemoryLevel::normal},
        Case{85 * kMebi, MemoryLevel::warning}, Case{85 * kMebi + 1, MemoryLevel::warning},
        Case{90 * kMebi - 1, MemoryLevel::warning}, Case{90 * kMebi, MemoryLevel::critical},
        Case{100 * kMebi, MemoryLevel::critical}}) {
    system_.group_of_version_2(100 * kMebi, used);
    EXPECT_EQ(read().level, level) << used;
  }
}

TEST_F(Pressure, IsThatOfTheOwnGroupBeforeTheMachine) {
  system_.machine(1000 * kMebi, 20 * kMebi);  // 98 % used
  EXPECT_EQ(read().level, MemoryLevel::critical);
  system_.group_of_version_1(100 * kMebi, 50 * kMebi);
  const PressureReading reading = read();
  EXPECT_EQ(reading.level, MemoryLevel::normal);
  EXPECT_EQ(reading.limit->bytes, 100 * kMebi);
  EXPECT_DOUBLE_EQ(reading.used_ratio().value(), 0.5);
  EXPECT_EQ(to_string(reading), "50.0 % of 100.0 MiB used (its control group): normal");
}

TEST_F(Pressure, IsThatOfTheMachineWhereNoGroupHasALimit) {
  system_.machine(1000 * kMebi, 130 * kMebi);
  system_.group_of_version_2(std::nullopt, 50 * kMebi);
  EXPECT_EQ(to_string(read()), "87.0 % of 1000.0 MiB used (this machine): warning");
}

TEST_F(Pressure, HasOtherThresholdsOnRequest) {
  system_.group_of_version_2(100 * kMebi, 70 * kMebi);
  EXPECT_EQ(read({.warn_percent = 60, .critical_percent = 70}).level, MemoryLevel::critical);
  EXPECT_EQ(read({.warn_percent = 70, .critical_percent = 100}).level, MemoryLevel::warning);
}

TEST_F(Pressure, TasksThatStandStillAreAWarning) {
  system_.machine(1000 * kMebi, 900 * kMebi);
  system_.machine_stall(
      "some avg10=10.00 avg60=0.10 avg300=0.00 total=7\n"
      "full avg10=2.50 avg60=0.00 avg300=0.00 total=3\n");
  const PressureReading reading = read();
  EXPECT_EQ(reading.level, MemoryLevel::warning);
  EXPECT_DOUBLE_EQ(reading.stall->some_percent, 10);
  EXPECT_DOUBLE_EQ(reading.stall->full_percent, 2.5);
  EXPECT_EQ(reading.stall->group, "");
  EXPECT_EQ(to_string(reading),
            "10.0 % of 1000.0 MiB used (this machine), tasks stood still for memory 10.0 % of the "
            "time: warning");
  EXPECT_EQ(read({.stall_percent = 10.01}).level, MemoryLevel::normal);
  EXPECT_EQ(read({.stall_percent = std::nullopt}).level, MemoryLevel::normal);
}

TEST_F(Pressure, AGroupsOwnStallComesFirst) {
  system_.group_of_version_2(100 * kMebi, kMebi);
  system_.machine_stall("some avg10=99.00 avg60=0 avg300=0 total=1\nfull avg10=99.00 total=1\n");
  system_.group_stall("some avg10=0.50 avg60=0 avg300=0 total=1\nfull avg10=0.25 total=1\n");
  const PressureReading reading = read();
  EXPECT_EQ(reading.level, MemoryLevel::normal);
  EXPECT_DOUBLE_EQ(reading.stall->some_percent, 0.5);
  EXPECT_EQ(reading.stall->group, system_.group());
}

TEST_F(Pressure, WhereNothingCanBeReadTheLevelIsNormalAndTheTextSaysSo) {
  const PressureReading reading = read();
  EXPECT_FALSE(reading.limit.has_value());
  EXPECT_FALSE(reading.used_ratio().has_value());
  EXPECT_FALSE(reading.stall.has_value());
  EXPECT_EQ(to_string(reading), "no memory limit can be read: normal");
  system_.machine_stall("some avg10=\n");
  EXPECT_FALSE(read().stall.has_value());
}

TEST(MemoryPressure, OfThisProcessIsReadable) {
  const PressureReading reading = MemoryPressure().read();
  ASSERT_TRUE(reading.used_ratio().has_value());
  EXPECT_GT(*reading.used_ratio(), 0);
}

std::string refused_pressure(const PressureOptions& options) {
  try {
    const MemoryPressure accepted(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MemoryPressure, RefusesPercentagesWithoutAMeaning) {
  EXPECT_THAT(refused_pressure({.warn_percent = -0.5}),
              HasSubstr("warn_percent: found -0.5, expected a percentage from 0 to 100"));
  EXPECT_THAT(refused_pressure({.critical_percent = 100.5}),
              HasSubstr("critical_percent: found 100.5"));
  EXPECT_THAT(refused_pressure({.warn_percent = -NAN}), HasSubstr("warn_percent: found nan"));
  EXPECT_THAT(refused_pressure({.stall_percent = 101}), HasSubstr("stall_percent: found 101"));
  EXPECT_THAT(refused_pressure({.warn_percent = 90, .critical_percent = 85}),
              HasSubstr("critical_percent: found 85, expected no less than warn_percent, 90"));
  EXPECT_EQ(refused_pressure({.warn_percent = 0, .critical_percent = 100}), "accepted");
}

}  // namespace
}  // namespace memduel
