#include "experiment/config/job_facts_of.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

using nlohmann::json;

TEST(JobFactsOf, ACommandHasGroupsWhereAProcessHasACountOfSeveral) {
  const JobFacts job = job_facts_of({{"kind", "command"},
                                     {"processes",
                                      {{{"role", "coordinator"}},
                                       {{"role", "worker"}, {"count", 3}},
                                       {{"role", "alone"}, {"count", 1}}}},
                                     {"match", {{{"role", "loader"}, {"pattern", "load"}}}}});
  const std::vector<std::string> roles = {"coordinator", "worker-1", "worker-2",
                                          "worker-3",    "alone-1",  "loader"};
  EXPECT_EQ(job.roles, roles);
  const std::vector<RoleGroup> groups = {{"worker", 3}};
  EXPECT_EQ(job.groups, groups);
  EXPECT_EQ(job.reference, "coordinator") << "the first, where none is named";
  const std::vector<RoleMetric> gates = {{"tree", "peak_heap_bytes"}, {"tree", "peak_rss_bytes"}};
  EXPECT_EQ(job.default_gates, gates);
  EXPECT_TRUE(job.held_models.empty());
}

TEST(JobFactsOf, ACommandNamesItsReference) {
  const json processes = {{{"role", "worker"}, {"count", 2}}, {{"role", "coordinator"}}};
  EXPECT_EQ(job_facts_of({{"kind", "command"}, {"processes", processes}}).reference, "worker-1");
  EXPECT_EQ(
      job_facts_of({{"kind", "command"}, {"processes", processes}, {"reference", "coordinator"}})
          .reference,
      "coordinator");
}

TEST(JobFactsOf, ARoundOfClientsIsHeldToTheServerAndTheLargestClient) {
  const JobFacts job = job_facts_of({{"kind", "federated"}, {"clients", 2}});
  const std::vector<std::string> roles = {"server", "client-1", "client-2"};
  EXPECT_EQ(job.roles, roles);
  EXPECT_EQ(job.reference, "server");
  const std::vector<RoleMetric> gates = {{"server", "peak_rss_above_idle_bytes"},
                                         {"client_max", "peak_rss_above_idle_bytes"},
                                         {"server", "rss_growth_bytes_per_round"}};
  EXPECT_EQ(job.default_gates, gates);
  EXPECT_EQ(job_facts_of({{"kind", "graph"}}).default_gates.size(), 1U) << "no growth over stages";
  EXPECT_EQ(job_facts_of({{"kind", "simulation"}}).roles.front(), "simulator");
}

// docs/lower-bounds.md: M for what does not train, M + P with plain gradient descent, M + P + 2 P
// with Adam; on a GPU the same bytes are there.
TEST(JobFactsOf, TrainingHoldsGradientsAndTheOptimizersMoments) {
  const auto held = [](const char* kind, const json& more) {
    json workload = {{"kind", kind}, {"clients", 1}};
    workload.update(more);
    return job_facts_of(workload).held_models;
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
}

}  // namespace
}  // namespace memduel
