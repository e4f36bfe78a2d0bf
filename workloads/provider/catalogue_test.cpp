#include "catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "provider/expand.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;

/// The message for a replay of resnet18's state by the built-in switches; the exit code must be 2.
std::string refusal_of(const json& workload, const json& optimizations) {
  json document = {
      {"name", "clash"},
      {"baseline", "original"},
      {"workload", {{"kind", "state-dict"}, {"model", "resnet18"}}},
      {"variants",
       {{{"name", "original"}, {"preset", "appfl-original"}},
        {{"name", "minimal"}, {"preset", "appfl-minimal"}, {"switches", optimizations}}}}};
  document["workload"].merge_patch(workload);
  const Error error =
      error_of([&] { parse_experiment(document.dump(), "c.json", "/", {}, ask_fl); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(FlCatalog, WhatNoWorkerRunsTogetherIsRefusedBeforeAnythingRuns) {
  EXPECT_EQ(refusal_of(json::object(), {{"compression", "zfp"}}),
            "c.json, $.variants[1].switches.compression: expected aggregate=out_of_place_kept_step "
            "or in_place or collect_all or in_time, found compression=zfp with "
            "aggregate=streaming_fold\n  memduel-worker cannot combine them");
  EXPECT_EQ(refusal_of({{"on_lost_client", "continue"}}, {{"model_chunking", 1048576}}),
            "c.json, $.variants[1].switches.model_chunking: expected workload.on_lost_client=fail, "
            "found model_chunking=1048576 with workload.on_lost_client=continue\n  memduel-worker "
            "cannot combine them");
}

/// The message for a simulation of which the second arm, csfl-optimized, has these switches.
std::string refusal_of_simulation(const json& workload, const json& optimizations,
                                  const Overrides& overrides = {}) {
  json document = {
      {"name", "s"},
      {"workload", {{"kind", "simulation"}, {"model", "csfl-cnn"}}},
      {"baseline", "original"},
      {"variants",
       {{{"name", "original"}, {"preset", "csfl-original"}},
        {{"name", "as-implemented"}, {"preset", "csfl-as-implemented"}},
        {{"name", "optimized"}, {"preset", "csfl-optimized"}, {"switches", optimizations}}}}};
  document["workload"]["dataset"] = {{"name", "mnist"}};
  document["workload"].merge_patch(workload);
  const Error error =
      error_of([&] { parse_experiment(document.dump(), "c.json", "/", overrides, ask_fl); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

// csfl-optimized warns at 85 and is critical at 90.
TEST(FlCatalog, TwoLevelsOutOfOrderAreToldFromTheOneThatTheArmSets) {
  EXPECT_EQ(refusal_of_simulation(json::object(), {{"warn_percent", 95}}),
            "c.json, $.variants[2].switches.warn_percent: expected warn_percent of at most 90, "
            "found warn_percent=95 with critical_percent=90\n  memduel-worker cannot combine them");
  EXPECT_EQ(
      refusal_of_simulation(json::object(), {{"critical_percent", 50}}),
      "c.json, $.variants[2].switches.critical_percent: expected critical_percent of at least 85, "
      "found critical_percent=50 with warn_percent=85\n  memduel-worker cannot combine them");
}

TEST(FlCatalog, AnArmHasItsPlaceInTheFileAlsoBesideArmsThatAreLeftOut) {
  Overrides overrides;
  overrides.arms = {"original", "optimized"};
  EXPECT_THAT(refusal_of_simulation(json::object(), {{"warn_percent", 95}}, overrides),
              testing::HasSubstr("$.variants[2].switches.warn_percent: "));
}

TEST(FlCatalog, ANumberOutOfRangeIsNoSlipOfThePen) {
  EXPECT_EQ(refusal_of_simulation(json::object(), {{"light_cleanup_rounds", -1}}),
            "c.json, $.variants[2].switches.light_cleanup_rounds: expected 0 or 1 or 5 or a whole "
            "number from 0, found -1 for switch \"light_cleanup_rounds\"");
}

TEST(FlCatalog, NoMoreClientsAreSelectedThanThereAre) {
  EXPECT_EQ(refusal_of_simulation({{"clients", 20}, {"clients_per_round", 30}}, json::object()),
            "c.json, $.workload.clients_per_round: expected at most clients, 20, found 30");
  EXPECT_EQ(refusal_of_simulation({{"clients", 5}}, json::object()),
            "c.json, $.workload.clients: expected at least clients_per_round, 10, found 5\n  also "
            "set clients_per_round; this is its default");
}

TEST(FlCatalog, OnlyTablesOfShapesAreScaled) {
  EXPECT_EQ(refusal_of({{"state_bytes", 1000}}, json::object()),
            "c.json, $.workload.state_bytes: expected 0, found 1000 for model \"resnet18\"\n  only "
            "a table of shapes can be scaled: llama-3.1-8b, tensors");
}

TEST(FlCatalog, APresetStatesOnlyWhatDiffersFromItsBase) {
  for (const json& preset : fl_switches().at("presets")) {
    const std::optional<std::string> base =
        preset.contains("base") ? std::optional<std::string>(preset.at("base")) : std::nullopt;
    for (const std::string kind : preset.at("workload_kinds")) {
      const json before = resolve_optimizations(fl_catalog(), kind, base, json::object(), "test");
      const json values =
          resolve_optimizations(fl_catalog(), kind, preset.at("name"), json::object(), "test");
      for (const auto& [name, value] : values.items())
        EXPECT_EQ(before.at(name) != value, preset.at("switches").contains(name))
            << preset.at("name") << " " << name;
    }
  }
}

TEST(FlCatalog, TheBuiltInOneHoldsTheSystemsOfTheMainJob) {
  const Catalog& catalog = fl_catalog();
  const auto original =
      resolve_optimizations(catalog, "federated", "appfl-original", json::object(), "test");
  const auto optimized =
      resolve_optimizations(catalog, "federated", "appfl-optimized", json::object(), "test");
  EXPECT_NE(original, optimized);
  EXPECT_EQ(original.size(), optimized.size());
}

}  // namespace
}  // namespace memduel
