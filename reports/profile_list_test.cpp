#include "reports/profile_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

TrialData profile_trial(int id, const std::string& arm) {
  TrialData trial;
  trial.id = id;
  trial.arm = arm;
  trial.kind = TrialKind::profile;
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
      list.profiles,
      ElementsAre(Field(&ListedProfile::arm, "before"), Field(&ListedProfile::arm, "after"),
                  Field(&ListedProfile::arm, "before"), Field(&ListedProfile::arm, "after")));
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
          "Under the recorder, before took 1.03 times as long and peaked at 1.10 times its RSS.",
          "Under the recorder, after peaked at 0.99 times its RSS."));
}

}  // namespace
}  // namespace memduel
