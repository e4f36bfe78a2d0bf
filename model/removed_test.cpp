#include "model/removed.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(ReplacementFor, IsOfWhatWasRemovedAlone) {
  EXPECT_EQ(replacement_for(Removed::option, "--retry-on-regress"),
            "it was removed: measure more blocks, --repeats N");
  EXPECT_EQ(replacement_for(Removed::tracer, "massif"),
            "it was removed: use recorder, heaptrack, gperftools or jemalloc");
  EXPECT_EQ(replacement_for(Removed::option, "compare --no-default-gates"),
            "compare judges the default gates only with --gate default");
  EXPECT_FALSE(replacement_for(Removed::option, "--no-default-gates")) << "run has it";
  EXPECT_FALSE(replacement_for(Removed::option, "--repeats"));
  EXPECT_FALSE(replacement_for(Removed::option, "--candidate")) << "ablate has it";
  EXPECT_FALSE(replacement_for(Removed::verb, "massif")) << "a program memduel-massif may be one";
  EXPECT_FALSE(replacement_for(Removed::verb, ""));
}

TEST(NewNameOfKey, IsOfRenamedKeysOnly) {
  EXPECT_EQ(new_name_of_key("arms"), "variants");
  EXPECT_EQ(new_name_of_key("arm"), "variant");
  EXPECT_EQ(new_name_of_key("optimizations"), "switches");
  EXPECT_EQ(new_name_of_key("tracers"), "profilers");
  EXPECT_EQ(new_name_of_key("left_out"), "removed_alone");
  EXPECT_FALSE(new_name_of_key("variants"));
  EXPECT_FALSE(new_name_of_key(""));
}

TEST(WithNewKeys, RenamesKeysWhereAConfigHasThem) {
  const auto old = nlohmann::json::parse(R"({
    "provider": ["memduel-laboratory"],
    "workload": {"kind": "federated", "arms": 2},
    "arms": [{"name": "arms", "optimizations": {"tracers": 1}, "env": {"arm": "arms"}, "append": {"arm": ["arms"]},
              "matrix": [{"optimizations": {"optimizations": {"a": 1}}}]}],
    "profile": {"tracers": ["recorder"]},
    "ablation": {"candidate": "arms", "switches": [{"name": "arm", "added_alone": {"arm": "arms"}, "left_out": {"idle": "arm"}}]},
    "expanded": {"arms": [{"name": "arms", "optimizations": {}}],
                 "catalogue": {"optimizations": [{"name": "arm"}], "presets": [{"name": "arm", "optimizations": {"arms": 1}}]}}})");
  const auto now = nlohmann::json::parse(R"({
    "provider": ["memduel-fl"],
    "workload": {"kind": "federated", "arms": 2},
    "variants": [{"name": "arms", "switches": {"tracers": 1}, "env": {"arm": "arms"}, "append": {"arm": ["arms"]},
              "matrix": [{"optimizations": {"switches": {"a": 1}}}]}],
    "profile": {"profilers": ["recorder"]},
    "ablation": {"candidate": "arms", "switches": [{"name": "arm", "added_alone": {"variant": "arms"}, "removed_alone": {"idle": "arm"}}]},
    "expanded": {"variants": [{"name": "arms", "switches": {}}],
                 "catalogue": {"switches": [{"name": "arm"}], "presets": [{"name": "arm", "switches": {"arms": 1}}]}}})");
  EXPECT_EQ(with_new_keys(old), now);
  EXPECT_EQ(with_new_keys(now), now);
}

TEST(WithNewKeys, LeavesWhatIsNoConfig) {
  for (const char* text : {"null", "3", "[]", "{}", R"({"arms": 1})", R"({"profile": []})",
                           R"({"provider": "x", "expanded": null})"}) {
    auto value = nlohmann::json::parse(text);
    EXPECT_NO_THROW(value = with_new_keys(value)) << text;
    EXPECT_FALSE(value.is_object() && value.contains("arms")) << text;
  }
}

}  // namespace
}  // namespace memduel
