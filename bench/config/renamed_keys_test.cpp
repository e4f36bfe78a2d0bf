// What a config or a provider of an earlier version has is refused by its new name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "config/experiment.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

/// The message for the small federated config after `change`.
std::string refusal_of_config(const std::function<void(json&)>& change,
                              const Overrides& overrides = {}) {
  json document = json::parse(federated_config(), nullptr, true, true);
  change(document);
  return error_of(
             [&] { parse_experiment(document.dump(), "c.json", "/", overrides, small_provider()); })
      .message();
}

/// The message for a provider whose answer to `word` is changed.
std::string refusal_of_answer(const std::string& word, const std::function<void(json&)>& change) {
  const AskProvider ask = [&](const Provider& provider, const std::string& asked,
                              const json& request) {
    json answer = small_provider()(provider, asked, request);
    if (asked == word) change(answer);
    return answer;
  };
  return error_of([&] { parse_experiment(federated_config(), "c.json", "/", {}, ask); }).message();
}

void rename(json& object, const char* from, const char* to) {
  object[to] = object[from];
  object.erase(from);
}

TEST(RenamedKeys, OfAConfigAreRefusedByTheirNewNames) {
  const std::string advice =
      "\n  memduel upgrade-config FILE rewrites a config of an earlier version";
  EXPECT_EQ(refusal_of_config([](json& c) { rename(c, "variants", "arms"); }),
            "c.json, $.arms: found the key \"arms\", which was renamed to \"variants\"" + advice);
  EXPECT_EQ(refusal_of_config(
                [](json& c) { c["variants"][1]["optimizations"] = {{"serialize", "scoped"}}; }),
            "c.json, $.variants[1].optimizations: found the key \"optimizations\", which was "
            "renamed to \"switches\"" +
                advice);
  EXPECT_EQ(
      refusal_of_config([](json& c) {
        c["variants"][1]["matrix"] = {{{"x", {{"optimizations", json::object()}}}}};
      }),
      "c.json, $.variants[1].matrix[0].x.optimizations: found the key \"optimizations\", which was "
      "renamed to \"switches\"" +
          advice);
  EXPECT_EQ(refusal_of_config([](json& c) { c["profile"] = {{"tracers", {"recorder"}}}; }),
            "c.json, $.profile.tracers: found the key \"tracers\", which was renamed to "
            "\"profilers\"" +
                advice);
  EXPECT_THAT(refusal_of_config([](json& c) {
                c["ablation"] = {{"candidate", "optimized"},
                                 {"switches",
                                  {{{"name", "serialize"},
                                    {"added_alone", {{"arm", "optimized"}}},
                                    {"removed_alone", {{"variant", "original"}}}}}}};
              }),
              HasSubstr("found the key \"arm\", which was renamed to \"variant\""));
}

TEST(RenamedKeys, OfAnAssignmentAreRefusedByTheirNewNames) {
  Overrides overrides;
  overrides.set = {"arms.optimized.env.X=y"};
  EXPECT_THAT(refusal_of_config([](json&) {}, overrides),
              HasSubstr("found the key \"arms\", which was renamed to \"variants\""));
}

TEST(RenamedKeys, AreUnknownWhereAConfigNeverHadThem) {
  EXPECT_THAT(refusal_of_config([](json& c) { c["measure"]["arms"] = 1; }),
              HasSubstr("found unknown key \"arms\"\n  expected "));
}

TEST(RenamedKeys, OfAProgramAPresetAndAValueAreRefusedByTheirNewNames) {
  EXPECT_EQ(refusal_of_config([](json& c) { c["provider"] = {"memduel-laboratory"}; }),
            "c.json, $.provider[0]: found the program \"memduel-laboratory\"\n"
            "  it was renamed: memduel-fl");
  EXPECT_THAT(refusal_of_config([](json& c) { c["variants"][1]["preset"] = "appfl-as-coded"; }),
              EndsWith("\n  it was renamed: appfl-as-implemented"));
  EXPECT_THAT(refusal_of_config(
                  [](json& c) { c["variants"][1]["switches"] = {{"serialize", "as_coded"}}; }),
              EndsWith("\n  it was renamed: as_implemented"));
}

TEST(RenamedKeys, OfACatalogueAreRefusedByTheirNewNames) {
  EXPECT_THAT(
      refusal_of_answer("catalogue", [](json& a) { rename(a, "switches", "optimizations"); }),
      HasSubstr("catalogue, $.optimizations: found the removed key \"optimizations\": it was "
                "renamed: \"switches\""));
  EXPECT_THAT(
      refusal_of_answer("catalogue",
                        [](json& a) { a["presets"][0]["optimizations"] = json::object(); }),
      HasSubstr("$.presets[0].optimizations: found the removed key \"optimizations\": it was "
                "renamed: \"switches\""));
  EXPECT_THAT(
      refusal_of_answer("catalogue", [](json& a) { a["schema"] = "memduel.catalogue/1"; }),
      AllOf(HasSubstr("expected the schema \"memduel.catalogue/2\", found \"memduel.catalogue/1\""),
            HasSubstr("\"switches\" instead of \"optimizations\"")));
}

TEST(RenamedKeys, OfAnExpansionAreRefusedByTheirNewNames) {
  EXPECT_THAT(refusal_of_answer("expand", [](json& a) { rename(a, "variants", "arms"); }),
              HasSubstr("expands it, $.arms: found the removed key \"arms\": it was renamed: "
                        "\"variants\""));
  EXPECT_THAT(
      refusal_of_answer("expand",
                        [](json& a) { a["variants"][0]["optimizations"] = json::object(); }),
      HasSubstr("$.variants[0].optimizations: found the removed key \"optimizations\": it was "
                "renamed"));
  EXPECT_THAT(refusal_of_answer("expand", [](json& a) { a["schema"] = "memduel.expanded/1"; }),
              AllOf(HasSubstr("expected the schema \"memduel.expanded/2\""),
                    HasSubstr("\"variants\" instead of \"arms\"")));
}

}  // namespace
}  // namespace memduel
