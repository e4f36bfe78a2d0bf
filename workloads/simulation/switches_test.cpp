#include "workloads/simulation/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "workloads/optimizations/test_catalog_files.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

std::string refusal_of_simulation(const std::string& name, const nlohmann::json& value) {
  nlohmann::json values = preset_values("csfl-original");
  values[name] = value;
  try {
    make_simulation_switches(values);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(SimulationSwitches, TakeEveryValueOfTheCatalog) {
  for (const auto& one : switches_for("simulation"))
    for (const auto& value : one.at("values")) {
      nlohmann::json values = preset_values("csfl-original");
      values[one.at("name")] = value.at("value");
      values["critical_percent"] = 100;
      EXPECT_NO_THROW(make_simulation_switches(values)) << one.at("name") << value;
    }
}

TEST(SimulationSwitches, PercentagesAreThoseOfAWholeAndInOrder) {
  EXPECT_THAT(refusal_of_simulation("warn_percent", 101),
              ::testing::AllOf(HasSubstr("optimizations.warn_percent: found 101"),
                               HasSubstr("a whole number from 0 to 100")));
  EXPECT_THAT(refusal_of_simulation("warn_percent", -1), HasSubstr("found -1"));
  EXPECT_THAT(refusal_of_simulation("critical_percent", 84),
              ::testing::AllOf(HasSubstr("optimizations.critical_percent: found 84"),
                               HasSubstr("a whole number from 85 to 100")));
  EXPECT_EQ(refusal_of_simulation("critical_percent", 85), "accepted");
}

TEST(SimulationSwitches, RoundsAndWorkersAreWholeNumbers) {
  EXPECT_THAT(refusal_of_simulation("light_cleanup_rounds", -5),
              HasSubstr("optimizations.light_cleanup_rounds: found -5"));
  EXPECT_THAT(refusal_of_simulation("heavy_cleanup_rounds", 2.5), HasSubstr("found 2.5"));
  EXPECT_THAT(refusal_of_simulation("memory_check_rounds", 0), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal_of_simulation("loader_workers", 65), HasSubstr("from 0 to 64"));
  EXPECT_THAT(refusal_of_simulation("emergency", "panic"), HasSubstr("same_batches"));
}

}  // namespace
}  // namespace memduel
