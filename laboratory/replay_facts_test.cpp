#include "laboratory/replay_facts.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

using nlohmann::json;

TEST(ReplayFacts, ARoundOfClientsIsHeldToTheServerAndTheLargestClient) {
  const JobFacts job = replay_facts({{"kind", "federated"}, {"clients", 2}});
  const std::vector<RoleMetric> gates = {{"server", "peak_rss_above_idle_bytes"},
                                         {"client_max", "peak_rss_above_idle_bytes"},
                                         {"server", "rss_growth_bytes_per_round"}};
  EXPECT_EQ(job.default_gates, gates);
  EXPECT_EQ(replay_facts({{"kind", "graph"}}).default_gates.size(), 1U) << "no growth over stages";
  EXPECT_EQ(replay_facts({{"kind", "simulation"}}).default_gates.front().role, "simulator");
}

// docs/lower-bounds.md: M for what does not train, M + P with plain gradient descent, M + P + 2 P
// with Adam; on a GPU the same bytes are there.
TEST(ReplayFacts, TrainingHoldsGradientsAndTheOptimizersMoments) {
  const auto held = [](const char* kind, const json& more) {
    json workload = {{"kind", kind}, {"clients", 1}};
    workload.update(more);
    return replay_facts(workload).held_models;
  };
  for (const HeldModel& one : held("state-dict", json::object())) EXPECT_EQ(one.copies, 0);
  const auto adam = held("federated", {{"optimizer", {{"name", "adam"}}}});
  ASSERT_EQ(adam.size(), 2U);
  EXPECT_EQ(adam[0].role, "server");
  EXPECT_EQ(adam[0].copies, 0);
  EXPECT_EQ(adam[1].role, "client_max");
  EXPECT_EQ(adam[1].copies, 3);
  EXPECT_EQ(adam[1].metric, "peak_rss_above_idle_bytes");
  EXPECT_EQ(held("federated", {{"optimizer", {{"name", "sgd"}}}})[1].copies, 1);
  for (const HeldModel& one : held("federated", {{"device", "cuda"}}))
    EXPECT_EQ(one.metric, "peak_gpu_allocated_bytes");
  const auto mixed = held("federated", {{"device", {{"client", "cuda:1"}}}});
  EXPECT_EQ(mixed[0].metric, "peak_rss_above_idle_bytes") << "the server is on the CPU";
  EXPECT_EQ(mixed[1].metric, "peak_gpu_allocated_bytes");
}

}  // namespace
}  // namespace memduel
