#include "experiment/config/catalog.h"

#include <gtest/gtest.h>

#include "experiment/config/test_support.h"

namespace memduel {
namespace {

using nlohmann::json;

TEST(Catalog, SwitchesStartAtTheirFirstValueThenPresetThenArm) {
  const Catalog catalog = small_catalog();
  EXPECT_EQ(resolve_optimizations(catalog, "federated", std::nullopt, json::object(), "arm"),
            json({{"serialize", "buffered"}, {"piece_bytes", 1048576}}));
  EXPECT_EQ(resolve_optimizations(catalog, "federated", "appfl-optimized",
                                  {{"piece_bytes", 262144}}, "arm"),
            json({{"serialize", "scoped"}, {"piece_bytes", 262144}}));
}

TEST(Catalog, OnlySwitchesOfTheWorkloadApply) {
  EXPECT_EQ(
      resolve_optimizations(small_catalog(), "state-dict", std::nullopt, json::object(), "arm"),
      json({{"serialize", "buffered"}}));
}

TEST(Catalog, APresetThatNamesAnUnknownValueIsRefusedWhenItIsRead) {
  const auto optimizations = json::parse(R"([{"name": "s", "summary": "", "applies_to": ["graph"],
    "values": [{"value": "plain", "summary": ""}]}])");
  const auto preset = json::parse(R"({"name": "p", "summary": "", "workload_kinds": ["graph"],
    "optimizations": {"s": "fancier"}})");
  const Error error = error_of([&] { parse_catalog(optimizations, {preset}); });
  EXPECT_EQ(error.message(),
            "preset p.preset: found \"fancier\" for optimization \"s\", expected plain");
}

TEST(Catalog, AMissingFieldIsAnError) {
  EXPECT_EQ(error_of([] { parse_catalog(json::parse(R"([{"name": "s"}])"), {}); }).code(),
            ExitCode::usage);
}

}  // namespace
}  // namespace memduel
