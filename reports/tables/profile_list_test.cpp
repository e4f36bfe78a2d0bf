#include "reports/tables/profile_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TrialData profile_trial(int id, const std::string& arm, const std::string& tracer = "recorder") {
  TrialData trial;
  trial.id = id;
  trial.arm = arm;
  trial.kind = TrialKind::profile;
  trial.tracer = tracer;
  return trial;
}

Results two_arms() {
  Results results;
  results.baseline = "before";
  results.arms.resize(2);
  results.arms[0].name = "before";
  results.arms[1].name = "after";
  results.trials = {profile_trial(9, "after"), profile_trial(10, "before")};
  return results;
}

TEST(ProfileList, ComparesEachRoleOfTheCandidateWithTheBaselines) {
  const ProfileList list = list_profiles(
      two_arms(),
      {{"10-client-1.mdp", 5}, {"10-server.mdp", 5}, {"9-client-1.mdp", 5}, {"9-server.mdp", 5}});
  EXPECT_THAT(
      list.commands,
      ElementsAre("memduel flamegraph profiles/10-client-1.mdp --diff profiles/9-client-1.mdp",
                  "memduel flamegraph profiles/10-server.mdp --diff profiles/9-server.mdp"));
  EXPECT_THAT(
      list_profiles(two_arms(), {{"10-server.mdp", 5}, {"9-server.mdp", 5}}, "my runs/a").commands,
      ElementsAre("memduel flamegraph 'my runs/a/profiles/10-server.mdp' --diff 'my "
                  "runs/a/profiles/9-server.mdp'"));
  EXPECT_THAT(list.profiles, ElementsAre(testing::Field(&ListedProfile::arm, "before"),
                                         testing::Field(&ListedProfile::arm, "after"),
                                         testing::Field(&ListedProfile::arm, "before"),
                                         testing::Field(&ListedProfile::arm, "after")));
}

TEST(ProfileList, TakesTheProgramAndNotTheScriptThatExecutesIt) {
  const ProfileList list = list_profiles(two_arms(), {{"10-server.2.mdp", 900},
                                                      {"10-server.mdp", 20},
                                                      {"9-server.2.mdp", 800},
                                                      {"9-server.mdp", 20}});
  EXPECT_THAT(
      list.commands,
      ElementsAre("memduel flamegraph profiles/10-server.2.mdp --diff profiles/9-server.2.mdp"));
  EXPECT_EQ(list.profiles.size(), 4U);
}

TEST(ProfileList, ShowsAnArmAloneWhereTheOtherLeftNothing) {
  EXPECT_THAT(list_profiles(two_arms(), {{"9-server.mdp", 5}}).commands,
              ElementsAre("memduel flamegraph profiles/9-server.mdp"));
}

TEST(ProfileList, LeavesOutFilesThatAreOfNoProfileTrial) {
  const ProfileList list = list_profiles(
      two_arms(),
      {{"3-server.mdp", 5}, {"$(reboot).mdp", 5}, {"9-server.html", 5}, {"9", 5}, {"", 5}});
  EXPECT_THAT(list.profiles, IsEmpty());
  EXPECT_THAT(list.commands, IsEmpty());
}

TEST(ProfileList, SaysWhatRecordingDidToAnArm) {
  Results results = two_arms();
  results.perturbation = {{"before", "recorder", 1.034, 1.1},
                          {"after", "recorder", {}, 0.99},
                          {"other", "recorder", {}, {}}};
  EXPECT_THAT(
      list_profiles(results, {}).sentences,
      ElementsAre(
          "Under the recorder, before took 1.03 times as long and peaked at 1.10 times its RSS "
          "(1 trial); after peaked at 0.99 times its RSS (1 trial)."));
  results.perturbation.push_back({"before", "heaptrack", 41.5, 2.0});
  EXPECT_EQ(list_profiles(results, {}).sentences.back(),
            "Under heaptrack, before took 41.50 times as long and peaked at 2.00 times its RSS "
            "(0 trials).");
}

TEST(ProfileList, ComparesWithinATracerAndTheRoundsOfATrial) {
  Results results = two_arms();
  results.trials.push_back(profile_trial(11, "before", "gperftools"));
  results.trials.push_back(profile_trial(12, "after", "gperftools"));
  const ProfileList list = list_profiles(results, {{"10-server.mdp", 5},
                                                   {"11-server.gperftools.heap", 5},
                                                   {"11-server.round1.gperftools.heap", 5},
                                                   {"11-server.round10.gperftools.heap", 5},
                                                   {"11-server.round2.gperftools.heap", 5},
                                                   {"12-server.gperftools.heap", 5},
                                                   {"9-server.mdp", 5}});
  EXPECT_THAT(list.commands,
              ElementsAre("memduel flamegraph profiles/10-server.mdp --diff profiles/9-server.mdp",
                          "memduel flamegraph profiles/11-server.gperftools.heap --diff "
                          "profiles/12-server.gperftools.heap",
                          "memduel flamegraph profiles/11-server.round1.gperftools.heap --diff "
                          "profiles/11-server.round10.gperftools.heap"));
  ASSERT_EQ(list.profiles.size(), 7U);
  EXPECT_EQ(list.profiles[2].tracer, "gperftools");
  EXPECT_EQ(list.profiles[2].round, std::nullopt);
  EXPECT_EQ(list.profiles[4].round, 2);
}

}  // namespace
}  // namespace memduel
