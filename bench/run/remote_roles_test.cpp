#include "remote_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/plan.h"
#include "run/store.h"
#include "support/small_experiment.h"
#include "test_trials.h"

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
    "variants": [{"name": "a"}, {"name": "b", "env": {"X": "1"}}], "baseline": "a",
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
              HasSubstr("not a Slurm batch job"));
  PlanSite two = site_of_three();
  two.nodes.pop_back();
  EXPECT_THAT(error_of([&] { plan_trial(spread_experiment(), {4, 1, 0, 0}, two); }).message(),
              HasSubstr("role client-2: found node 3, but the allocation has 2"));
}

using testing::HasSubstr;

class RemoteRoles : public TestFolder {
 protected:
  RemoteRoles() {
    ProcessSpec here;
    here.role = "server";
    ProcessSpec there;
    there.role = "client-1";
    there.remote = {"n2", folder_ / "watch", "0123"};
    plan_.processes = {here, there};
    run_.trial = full_trial(1, 1, "a");
    RoleData srun;
    srun.role = "client-1";
    srun.metrics = {{"peak_rss_bytes", 5e6}};
    run_.trial.roles.insert(run_.trial.roles.begin(), srun);
  }

  /// What a watch leaves: one trial of the role "command", by a clock that began elsewhere.
  void watched(const std::string& token, const std::string& version = memduel_version()) {
    nlohmann::json environment = {{"fingerprint", "f"}, {"memduel", version}};
    environment["node_token"] = token;
    Store store = Store::create(folder_ / "watch",
                                {document_of_run({{"name", "watch"}}), "00", {}, environment, {}});
    TrialData trial = full_trial(7, 1, "watch");
    trial.roles.front().role = "command";
    store.add_trial(trial);
  }

  /// Returns the failure.
  std::string take() {
    take_remote_roles(plan_, run_);
    return run_.trial.failure;
  }

  TrialPlan plan_;
  TrialRun run_;
};

TEST_F(RemoteRoles, TakeThePlaceOfSrun) {
  watched("0123");
  EXPECT_EQ(take(), "");
  ASSERT_EQ(run_.trial.roles.size(), 2U) << "the tree is no machine's";
  const RoleData& client = run_.trial.roles.front();
  EXPECT_EQ(client.role, "client-1");
  EXPECT_EQ(client.metrics.at("peak_rss_bytes"), 2e8 + 7);
  // The watch's trial began at 7 s of its clock, this one at 1 s of its own.
  EXPECT_EQ(client.rounds[0].begin_ns, 10 - 6'000'000'000);
  EXPECT_EQ(client.rounds[0].phases[0].end_ns, 15 - 6'000'000'000);
  EXPECT_EQ(client.series[0].t_ns[2], 6 - 6'000'000'000);
  ASSERT_EQ(run_.limitations.size(), 1U);
  EXPECT_EQ(run_.limitations[0].code, "roles_on_other_nodes");
}

TEST_F(RemoteRoles, OfAnotherTrialAreRefused) {
  watched("4567");
  EXPECT_THAT(take(), HasSubstr("client-1 on node n2 has the token of another trial"));
  EXPECT_EQ(run_.trial.status, TrialStatus::failed);
}

TEST_F(RemoteRoles, OfAnotherMemduelAreRefused) {
  watched("0123", "0.0.1");
  EXPECT_THAT(take(), HasSubstr("is of memduel 0.0.1, but this is memduel " + memduel_version()));
}

TEST_F(RemoteRoles, ThatLeftNothingFailTheTrial) {
  EXPECT_THAT(take(), HasSubstr("client-1 on node n2"));
  EXPECT_EQ(run_.trial.status, TrialStatus::failed);
}

TEST_F(RemoteRoles, OfAFailedTrialAreNotLookedFor) {
  run_.trial.status = TrialStatus::failed;
  run_.trial.failure = "server ended";
  EXPECT_EQ(take(), "server ended");
}

TEST_F(RemoteRoles, AreNothingToAJobOfOneMachine) {
  plan_.processes[1].remote.reset();
  EXPECT_EQ(take(), "");
  EXPECT_EQ(run_.trial.roles.size(), 3U);
  EXPECT_TRUE(run_.limitations.empty());
}

}  // namespace
}  // namespace memduel
