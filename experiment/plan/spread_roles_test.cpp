#include "experiment/plan/spread_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/config/test_support.h"

namespace memduel {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;

Experiment spread_experiment() {
  return parse_experiment(R"({
    "name": "job",
    "workload": {"kind": "command", "processes": [
      {"role": "server", "argv": ["./server"], "end": "stop"},
      {"role": "sink", "argv": ["./sink"], "node": 2, "end": "stop"},
      {"role": "client", "count": 3, "node": [2, 3], "after": ["server"],
       "argv": ["./client", "{node:server}:80", "{node:client-2}"]}]},
    "arms": [{"name": "a"}, {"name": "b", "env": {"X": "1"}}], "baseline": "a",
    "measure": {"meters": ["procfs", "heap"]}})",
                          "c.json", "/job", {});
}

PlanSite site_of_three() {
  PlanSite site{"/run/trials", "/run/logs", {}};
  site.nodes = {{"n7", "10.0.0.7"}, {"n1", "10.0.0.1"}, {"n2", "10.0.0.2"}};
  return site;
}

TEST(SpreadRoles, StartOnTheirNodesUnderAWatch) {
  const auto plan = plan_trial(spread_experiment(), {4, 1, 0, 0}, site_of_three()).plan;
  const auto& processes = plan.processes;
  ASSERT_EQ(processes.size(), 5U);
  EXPECT_FALSE(processes[0].remote) << "the server runs here";
  EXPECT_TRUE(processes[0].heap_obstacle.find("another node") == std::string::npos);
  const std::vector<std::string> nodes = {"", "n1", "n1", "n2",
                                          "n1"};  // a count takes them in turn
  for (std::size_t i = 1; i < processes.size(); ++i) {
    ASSERT_TRUE(processes[i].remote) << i;
    EXPECT_EQ(processes[i].remote->node, nodes[i]);
    EXPECT_EQ(processes[i].argv.front(), "srun");
    EXPECT_THAT(processes[i].argv, Contains("--nodelist=" + nodes[i]));
    EXPECT_THAT(processes[i].argv, Contains("--job-name=" + processes[i].remote->token));
    EXPECT_EQ(processes[i].env.at(kNodeToken), processes[i].remote->token);
    EXPECT_FALSE(processes[i].heap_dir) << "nothing is preloaded into srun";
    EXPECT_THAT(processes[i].heap_obstacle, HasSubstr("another node"));
  }
  EXPECT_EQ(processes[2].argv[processes[2].argv.size() - 2], "10.0.0.7:80") << "the server's";
  EXPECT_EQ(processes[2].argv.back(), "10.0.0.2") << "the second client's";
  EXPECT_NE(processes[1].remote->token, processes[2].remote->token);
  EXPECT_THAT(processes[1].exit_statuses, Contains(143)) << "its watch passes SIGTERM's end on";
  EXPECT_THAT(processes[2].exit_statuses, Each(0));
}

TEST(SpreadRoles, HaveGatesOfTheirOwn) {
  const std::vector<RoleMetric> gates = {
      {"server", "peak_rss_bytes"}, {"sink", "peak_rss_bytes"}, {"client_max", "peak_rss_bytes"}};
  EXPECT_EQ(spread_experiment().facts.default_gates, gates);
}

TEST(SpreadRoles, AreRefusedWhereTheyCannotBe) {
  EXPECT_TRUE(is_spread(spread_experiment()));
  EXPECT_THAT(error_of([] { nodes_of_allocation({{"SLURM_JOB_NODELIST", "n[1-2]"}}); }).message(),
              HasSubstr("no batch job of Slurm"));
  PlanSite two = site_of_three();
  two.nodes.pop_back();
  EXPECT_THAT(error_of([&] { plan_trial(spread_experiment(), {4, 1, 0, 0}, two); }).message(),
              HasSubstr("role client-2: found node 3, and the allocation has 2"));
}

}  // namespace
}  // namespace memduel
