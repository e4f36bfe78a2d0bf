#include "experiment/run/remote_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/config/test_support.h"
#include "experiment/plan/environment.h"
#include "experiment/run/test_trials.h"
#include "experiment/store/store.h"

namespace memduel {
namespace {

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
    Store store =
        Store::create(folder_ / "watch", {{{"name", "watch"}}, "00", {}, environment, {}});
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
  EXPECT_THAT(take(), HasSubstr("client-1 on node n2 carries the token of another trial"));
  EXPECT_EQ(run_.trial.status, TrialStatus::failed);
}

TEST_F(RemoteRoles, OfAnotherMemduelAreRefused) {
  watched("0123", "0.0.1");
  EXPECT_THAT(take(), HasSubstr("is of memduel 0.0.1, and this one is " + memduel_version()));
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
