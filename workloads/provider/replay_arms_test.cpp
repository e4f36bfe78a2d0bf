#include "replay_arms.h"

#include <gtest/gtest.h>

#include "provider/expand.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Two arms of a replay; the second has the environment and the switches.
json arms_with(const json& env, const json& optimizations) {
  return {{"name", "reserved"},
          {"baseline", "original"},
          {"workload", {{"kind", "state-dict"}, {"model", "resnet18"}}},
          {"variants",
           {{{"name", "original"}, {"preset", "nvflare-original"}},
            {{"name", "other"},
             {"preset", "nvflare-optimized"},
             {"env", env},
             {"switches", optimizations}}}}};
}

json resolved_switches(const json& env, const json& optimizations = json::object()) {
  return parse_experiment(arms_with(env, optimizations).dump(), "c.json", "/", {}, ask_fl)
      .variants[1]
      .switches;
}

std::string refusal_of_environment(const json& env, const json& optimizations = json::object()) {
  const Error error = error_of([&] { resolved_switches(env, optimizations); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(ReservedEnvironment, NVFlaresVariablesSetTheirSwitchesOverThePreset) {
  EXPECT_EQ(resolved_switches(json::object()).at("client_gc_rounds"), 1);
  const json set = resolved_switches(
      {{"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "5"}, {"NVFLARE_CUDA_EMPTY_CACHE", "false"}});
  EXPECT_EQ(set.at("client_gc_rounds"), 5);
  EXPECT_EQ(set.at("cuda_empty_cache"), "off");
}

TEST(ReservedEnvironment, WhatTheyResolveToLoadsAsItself) {
  const json env = {{"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "0"}};
  EXPECT_EQ(resolved_switches(env, resolved_switches(env)), resolved_switches(env));
}

/// The second arm, with the environment and on the allocator, if any.
json arm_with(const json& env, const json& allocator = nullptr) {
  json config = arms_with(env, json::object());
  if (!allocator.is_null()) config["variants"][1]["allocator"] = allocator;
  return written_document(parse_experiment(config.dump(), "c.json", "/", {}, ask_fl).config)
      .at("variants")[1];
}

TEST(ReservedEnvironment, NVFlaresPreloadIsTheAllocatorOfTheArm) {
  const char* variable = "NVFLARE_ENABLE_JEMALLOC_PRELOAD";
  EXPECT_EQ(arm_with({{variable, "true"}}).at("allocator"), "jemalloc");
  EXPECT_EQ(arm_with({{variable, "true"}}, "jemalloc").at("allocator"), "jemalloc");
  EXPECT_FALSE(arm_with({{variable, "false"}}).contains("allocator"));
  EXPECT_EQ(arm_with({{variable, "false"}}, "tcmalloc").at("allocator"), "tcmalloc");
  const json loaded = arms_with({{variable, "true"}}, json::object());
  EXPECT_EQ(parse_experiment(loaded.dump(), "c.json", "/", {}, ask_fl).variants[1].allocator,
            Allocator::jemalloc);
}

TEST(ReservedEnvironment, NVFlaresPreloadBesideAnotherAllocatorIsRefused) {
  const char* variable = "NVFLARE_ENABLE_JEMALLOC_PRELOAD";
  const auto refusal = [&](const char* value, const char* allocator) {
    return error_of([&] { arm_with({{variable, value}}, allocator); }).message();
  };
  EXPECT_EQ(refusal("1", "glibc"),
            "c.json, $.variants[1].env.NVFLARE_ENABLE_JEMALLOC_PRELOAD: found \"1\" together with "
            "allocator "
            "\"glibc\"\n  the variable preloads jemalloc: use only one of them");
  EXPECT_EQ(refusal("no", "jemalloc"),
            "c.json, $.variants[1].env.NVFLARE_ENABLE_JEMALLOC_PRELOAD: found \"no\" together with "
            "allocator "
            "\"jemalloc\"\n  the variable preloads jemalloc: use only one of them");
}

TEST(ReservedEnvironment, ValuesThatAreNoneAreRefused) {
  EXPECT_EQ(refusal_of_environment({{"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "-1"}}),
            "c.json, $.variants[1].env.NVFLARE_CLIENT_MEMORY_GC_ROUNDS: expected a whole number "
            "from 0, found \"-1\"");
  EXPECT_EQ(refusal_of_environment({{"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "2 "}}),
            "c.json, $.variants[1].env.NVFLARE_CLIENT_MEMORY_GC_ROUNDS: expected a whole number "
            "from 0, found \"2 \"");
  EXPECT_EQ(refusal_of_environment({{"NVFLARE_CUDA_EMPTY_CACHE", "maybe"}}),
            "c.json, $.variants[1].env.NVFLARE_CUDA_EMPTY_CACHE: expected 1, true, yes, 0, false "
            "or no, found \"maybe\"");
}

TEST(ReservedEnvironment, AVariableBesideItsSwitchIsRefused) {
  EXPECT_EQ(
      refusal_of_environment({{"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "1"}}, {{"client_gc_rounds", 2}}),
      "c.json, $.variants[1].env.NVFLARE_CLIENT_MEMORY_GC_ROUNDS: found \"1\" together with "
      "client_gc_rounds=2\n  the variable sets this switch: use only one of them");
  EXPECT_EQ(refusal_of_environment({{"MALLOC_ARENA_MAX", "8"}}),
            "c.json, $.variants[1].env.MALLOC_ARENA_MAX: found \"8\" together with arenas=4\n"
            "  the switch limits the arenas: use only one of them");
  EXPECT_EQ(resolved_switches({{"MALLOC_ARENA_MAX", "8"}},
                              {{"arenas", "default"}, {"client_arenas", "as_server"}})
                .at("arenas"),
            "default");
}

}  // namespace
}  // namespace memduel
