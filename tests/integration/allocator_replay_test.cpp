// Replays under another allocator: verified in every role, and each one's own account at the marks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memduel_program.h"

namespace memduel {
namespace {

constexpr double kState = 4 * 1024 * 1024;

constexpr const char* kAllocatorDuel = R"({
  "name": "replay", "baseline": "plain",
  "workload": { "kind": "state-dict", "model": "tensors", "tensors": { "weight": [1024, 1024] },
                "clients": 1, "rounds": 2 },
  "variants": [ { "name": "plain" }, { "name": "jemalloc", "allocator": "jemalloc" },
            { "name": "tcmalloc", "allocator": "tcmalloc" } ],
  "measure": { "repeats": 1 }, "profile": { "trials": 0 } })";

nlohmann::json first_trial(const nlohmann::json& results, const std::string& arm) {
  for (const auto& trial : results.at("trials"))
    if (trial.at("variant") == arm && trial.at("kind") == "measure") return trial;
  return nullptr;
}

TEST(AllocatorsOfReplays, AreVerifiedInEveryRoleAndSayWhatTheyHold) {
  const Workplace place;
  const Finished run = memduel(
      place, {"run", place.file("replay.json", kAllocatorDuel), "--out", place.path("run")});
  const auto results = results_in(place.path("run"));
  for (const auto& [arm, own] : {std::pair{"plain", "allocator_arena_count"},
                                 {"jemalloc", "allocator_active_bytes"},
                                 {"tcmalloc", "allocator_resident_bytes"}}) {
    const auto trial = first_trial(results, arm);
    ASSERT_EQ(trial.at("status"), "ok") << trial.value("failure", run.err);
    for (const auto& role : trial.at("roles")) {
      if (role.at("role") == "all") continue;
      const auto& metrics = role.at("metrics");
      EXPECT_TRUE(metrics.contains(own)) << arm << metrics;
      EXPECT_GE(metrics.at("heap_free_bytes"), 0) << arm;
      if (role.at("role") == "server") {
        EXPECT_GE(metrics.at("heap_in_use_bytes"), kState) << arm << ": the global model";
      }
    }
  }
  const auto allocators = first_trial(results, "jemalloc").at("allocators");
  for (const char* role : {"server", "client-1"})
    EXPECT_THAT(allocators.at(role).get<std::string>(), testing::EndsWith("/libjemalloc.so.2"));
}

}  // namespace
}  // namespace memduel
