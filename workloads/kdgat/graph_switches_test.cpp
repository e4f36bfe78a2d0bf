#include "graph_switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/catalog_files.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

std::string refusal_of_graph_switch(const std::string& name, const nlohmann::json& value) {
  nlohmann::json values = preset_values("kdgat-original");
  values[name] = value;
  try {
    make_graph_switches(values);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(GraphSwitches, TakeEveryValueOfTheCatalog) {
  for (const auto& one : switches_for("graph"))
    for (const auto& value : one.at("values"))
      EXPECT_EQ(refusal_of_graph_switch(one.at("name"), value.at("value")), "accepted");
}

TEST(GraphSwitches, OtherValuesAreRefusedWithWhatIsExpected) {
  EXPECT_THAT(refusal_of_graph_switch("teacher", "gone"),
              ::testing::AllOf(HasSubstr("switches.teacher: expected "),
                               HasSubstr("cached_outputs, found \"gone\"")));
  EXPECT_THAT(refusal_of_graph_switch("loader_workers", 65), HasSubstr("from 0 to 64"));
  EXPECT_THAT(refusal_of_graph_switch("clear_cache_every_n", -1), HasSubstr("found -1"));
  EXPECT_THAT(refusal_of_graph_switch("batch_size", "static_"), HasSubstr("static_as_implemented"));
}

}  // namespace
}  // namespace memduel
