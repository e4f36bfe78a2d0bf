#include "workloads/simulation/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

nlohmann::json read_simulation_file(const std::string& name) {
  return nlohmann::json::parse(read_file(std::string(MEMDUEL_CONFIGS "/") + name));
}

nlohmann::json original_simulation() {
  return read_simulation_file("presets/csfl-original.json").at("optimizations");
}

std::vector<nlohmann::json> simulation_switches() {
  std::vector<nlohmann::json> switches;
  for (const auto& one : read_simulation_file("optimizations.json")) {
    const auto& kinds = one.at("applies_to");
    if (std::find(kinds.begin(), kinds.end(), "simulation") != kinds.end()) switches.push_back(one);
  }
  return switches;
}

std::string refusal_of_simulation(const std::string& name, const nlohmann::json& value) {
  nlohmann::json values = original_simulation();
  values[name] = value;
  try {
    make_simulation_switches(values);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(SimulationSwitches, AreThoseOfTheCatalogWithItsValues) {
  std::map<std::string, std::vector<std::string>> listed;
  for (const auto& one : simulation_switches()) {
    const std::string name = one.at("name");
    listed[name];
    for (const auto& value : one.at("values")) {
      if (value.at("value").is_string()) listed[name].push_back(value.at("value"));
      nlohmann::json values = original_simulation();
      values[name] = value.at("value");
      values["critical_percent"] = 100;
      EXPECT_NO_THROW(make_simulation_switches(values)) << name << value;
    }
  }
  EXPECT_EQ(listed, implemented_simulation_switches());
}

TEST(SimulationSwitches, TheOriginalPresetHoldsEveryFirstValue) {
  const nlohmann::json preset = original_simulation();
  for (const auto& one : simulation_switches())
    EXPECT_EQ(preset.at(one.at("name").get<std::string>()), one.at("values").front().at("value"));
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
