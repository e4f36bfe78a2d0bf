#include "model/renamed_since_1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/metric_catalogue.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

TEST(RenamedSince1, GivesEachNameOneSuccessor) {
  std::set<std::pair<NameOf, std::string_view>> old;
  for (const RenamedName& one : renamed_names()) {
    EXPECT_TRUE(old.emplace(one.of, one.was).second) << one.was;
    EXPECT_EQ(current_name(one.of, one.was), one.is);
    EXPECT_EQ(current_name(one.of, one.is), one.is) << "translating twice changes nothing";
  }
  EXPECT_EQ(current_name(NameOf::role, "server"), "server");
  EXPECT_EQ(current_name(NameOf::metric, "tree"), "tree") << "a name of another kind";
}

TEST(RenamedSince1, TranslatesMetricsToKnownOnes) {
  for (const RenamedName& one : renamed_names()) {
    if (one.of != NameOf::metric) continue;
    EXPECT_TRUE(is_known_metric(one.is)) << one.is;
    EXPECT_FALSE(is_known_metric(one.was)) << one.was;
  }
}

TEST(RenamedSince1, TranslatesGates) {
  EXPECT_EQ(current_gate("tree.heap_held_free_bytes<=+2%|+1MiB:advisory"),
            "all.heap_free_bytes<=+2%|+1MiB:advisory");
  EXPECT_EQ(current_gate("tree.peak_rss_bytes"), "all.peak_rss_bytes");
  EXPECT_EQ(current_gate("a.tree.peak_rss_bytes<=1"), "a.tree.peak_rss_bytes<=1");
  EXPECT_EQ(current_gate("*.round_seconds<=+5%"), "*.round_seconds<=+5%");
  EXPECT_EQ(current_gate("default"), "default");
}

TEST(RenamedSince1, TranslatesKeysAndValuesOfResults) {
  json results = json::parse(R"({
    "job": {"roles": ["server"], "default_gates": [{"role": "tree", "metric": "peak_rss_bytes"}]},
    "arms": [{"name": "tree", "optimizations": {"arm": "x"}}],
    "trials": [{"arm": "a", "tracer": "recorder", "files": {"arm": "f"}, "roles": [
      {"role": "tree", "metrics": {"heap_held_free_bytes": 1, "exact": 2}, "rounds": [
        {"metrics": {"heap_held_free_bytes": 3},
         "phases": [{"phase": "tree", "metrics": {"heap_held_free_bytes": 4}}]}]}]}],
    "comparisons": [{"candidate": "tree", "role": "tree", "metric": "heap_held_free_bytes",
                     "exact": true, "smallest_detectable": 0.1}],
    "growth": [{"arm": "a", "role": "tree", "verdict": "settling"}],
    "gates": [{"gate": "tree.heap_held_free_bytes<=1", "role": "tree",
               "metric": "heap_held_free_bytes", "outcome": "undecided"}],
    "ablation": [{"optimization": "x", "effect": "cannot_tell", "added_alone": {"arm": "a+x"},
                  "left_out": {"arm": null}}],
    "ablation_totals": [{"whole": {"arm": "b"}, "left_out": {"sum": 1}}],
    "differences": [{"kind": "resident", "heap": "mapping", "stack": ["held", "held"], "blocks": 2},
                    {"kind": "peak", "stack": ["held"]}],
    "resident": [{"arm": "a", "owners": [{"owner": "pinned", "name": "held"}]}],
    "first_screen": {"rows": [{"role": "tree", "metric": "peak_rss_bytes",
                               "causes": [{"memory": "unexplained"}]}]},
    "limitations": [{"code": "tracer_missing", "message": "tree"}],
    "environment": {"shares": [{"share": "1/2"}]}
  })");
  translate_results_1(results, "r.json");
  EXPECT_EQ(results, json::parse(R"({
    "job": {"roles": ["server"], "default_gates": [{"role": "all", "metric": "peak_rss_bytes"}]},
    "variants": [{"name": "tree", "switches": {"arm": "x"}}],
    "trials": [{"variant": "a", "profiler": "recorder", "files": {"arm": "f"}, "roles": [
      {"role": "all", "metrics": {"heap_free_bytes": 1, "exact": 2}, "rounds": [
        {"metrics": {"heap_free_bytes": 3},
         "phases": [{"phase": "tree", "metrics": {"heap_free_bytes": 4}}]}]}]}],
    "comparisons": [{"candidate": "tree", "role": "all", "metric": "heap_free_bytes",
                     "identical": true, "minimum_detectable": 0.1}],
    "growth": [{"variant": "a", "role": "all", "verdict": "leveling_off"}],
    "gates": [{"gate": "all.heap_free_bytes<=1", "role": "all",
               "metric": "heap_free_bytes", "outcome": "inconclusive"}],
    "ablation": [{"switch": "x", "effect": "inconclusive", "added_alone": {"variant": "a+x"},
                  "removed_alone": {"variant": null}}],
    "ablation_totals": [{"whole": {"variant": "b"}, "removed_alone": {"sum": 1}}],
    "differences": [{"kind": "resident", "heap": "mapped", "stack": ["free", "held"], "allocations": 2},
                    {"kind": "peak", "stack": ["held"]}],
    "resident": [{"variant": "a", "owners": [{"owner": "fragmentation", "name": "held"}]}],
    "first_screen": {"rows": [{"role": "all", "metric": "peak_rss_bytes",
                               "causes": [{"memory": "other"}]}]},
    "limitations": [{"code": "profiler_missing", "message": "tree"}],
    "environment": {"shards": [{"shard": "1/2"}]}
  })"));
}

TEST(RenamedSince1, KeepsBenchmarkCalledTree) {
  json results = {{"job", {{"roles", {"tree"}}}}, {"comparisons", {{{"role", "tree"}}}}};
  translate_results_1(results, "r.json");
  EXPECT_EQ(results.at("comparisons").at(0).at("role"), "tree");
}

TEST(RenamedSince1, RefusesProcessCalledAll) {
  json results = json::parse(
      R"({"job": {"roles": ["all"]}, "trials": [{"roles": [{"role": "all"}, {"role": "tree"}]}]})");
  try {
    translate_results_1(results, "r.json");
    ADD_FAILURE() << "translated";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "r.json: a process has the role \"all\", which stands for all processes since schema "
              "2\n  read it with the memduel version that wrote it");
  }
}

TEST(RenamedSince1, LeavesWrongDocumentsToTheirReader) {
  for (json wrong : {json(nullptr), json("text"), json::array({1}), json({{"arms", 3}}),
                     json({{"trials", {{{"roles", "none"}}}}}), json({{"job", json::array()}})})
    EXPECT_NO_THROW(translate_results_1(wrong, "r.json"));
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

TEST(TranslateConfig1, RenamesKeysWhereAConfigHasThem) {
  const auto old = json::parse(R"({
    "provider": ["memduel-laboratory"],
    "workload": {"kind": "federated", "arms": 2},
    "arms": [{"name": "arms", "optimizations": {"tracers": 1}, "env": {"arm": "arms"}, "append": {"arm": ["arms"]},
              "matrix": [{"optimizations": {"optimizations": {"a": 1}}}]}],
    "profile": {"tracers": ["recorder"]},
    "ablation": {"candidate": "arms", "switches": [{"name": "arm", "added_alone": {"arm": "arms"}, "left_out": {"idle": "arm"}}]},
    "expanded": {"arms": [{"name": "arms", "optimizations": {}}],
                 "catalogue": {"optimizations": [{"name": "arm"}], "presets": [{"name": "arm", "optimizations": {"arms": 1}}]}}})");
  const auto now = json::parse(R"({
    "provider": ["memduel-fl"],
    "workload": {"kind": "federated", "arms": 2},
    "variants": [{"name": "arms", "switches": {"tracers": 1}, "env": {"arm": "arms"}, "append": {"arm": ["arms"]},
              "matrix": [{"optimizations": {"switches": {"a": 1}}}]}],
    "profile": {"profilers": ["recorder"]},
    "ablation": {"candidate": "arms", "switches": [{"name": "arm", "added_alone": {"variant": "arms"}, "removed_alone": {"idle": "arm"}}]},
    "expanded": {"variants": [{"name": "arms", "switches": {}}],
                 "catalogue": {"switches": [{"name": "arm"}], "presets": [{"name": "arm", "switches": {"arms": 1}}]}}})");
  json config = old;
  for (int times = 0; times < 2; ++times) {
    translate_config_1(config);
    EXPECT_EQ(config, now) << times;
  }
}

TEST(TranslateConfig1, LeavesWhatIsNoConfig) {
  for (const char* text : {"null", "3", "[]", "{}", R"({"arms": 1})", R"({"profile": []})",
                           R"({"provider": "x", "expanded": null})"}) {
    auto value = json::parse(text);
    EXPECT_NO_THROW(translate_config_1(value)) << text;
    EXPECT_FALSE(value.is_object() && value.contains("arms")) << text;
  }
}

TEST(TranslateConfig1, TranslatesGates) {
  json config = json::parse(R"({"gates": ["tree.peak_rss_bytes<=+1%", 3],
    "expanded": {"default_gates": [{"role": "tree", "metric": "heap_held_free_bytes"}]}})");
  translate_config_1(config);
  EXPECT_EQ(config, json::parse(R"({"gates": ["all.peak_rss_bytes<=+1%", 3],
    "expanded": {"default_gates": [{"role": "all", "metric": "heap_free_bytes"}]}})"));
}

TEST(RenamedSince1, TranslatesCalibrations) {
  json calibration = json::parse(R"({"blocks_per_duel": 8, "metrics": [
    {"role": "tree", "metric": "heap_held_free_bytes", "smallest_detectable": null, "duels": 3}]})");
  translate_calibration_1(calibration);
  EXPECT_EQ(calibration, json::parse(R"({"blocks_per_comparison": 8, "metrics": [
    {"role": "all", "metric": "heap_free_bytes", "minimum_detectable": null, "comparisons": 3}]})"));
}

}  // namespace
}  // namespace memduel
