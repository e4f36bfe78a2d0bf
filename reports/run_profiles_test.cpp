#include "reports/run_profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_sample_profile.h"
#include "util/error.h"

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

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TrialData profile_of(int id, const std::string& arm) {
  TrialData trial;
  trial.id = id;
  trial.arm = arm;
  trial.kind = TrialKind::profile;
  trial.tracer = "recorder";
  return trial;
}

Results traced(const std::vector<std::string>& arms) {
  Results results;
  results.baseline = arms.at(0);
  results.job.groups = {{"client", 1}};
  for (size_t i = 0; i < arms.size(); ++i) {
    ArmSummary arm;
    arm.name = arms[i];
    results.arms.push_back(arm);
    results.trials.push_back(profile_of(static_cast<int>(i) + 1, arms[i]));
  }
  return results;
}

TEST(FlamePairs, PutTheBaselineBesideEachCandidateRoleByRole) {
  Results results = traced({"before", "after", "small"});
  Comparison gate;
  gate.role = "server";
  gate.gate = true;
  results.comparisons = {gate};
  const auto pairs = flame_pairs(results, {{"1-client-1.mdp", 5},
                                           {"2-client-1.mdp", 5},
                                           {"1-server.mdp", 1},
                                           {"1-server.2.mdp", 9},
                                           {"2-server.mdp", 5},
                                           {"3-server.mdp", 5}});
  ASSERT_THAT(pairs, SizeIs(3));
  EXPECT_EQ(pairs[0].role, "server") << "the gate's role comes first";
  EXPECT_THAT(pairs[0].arms, ElementsAre("before", "after"));
  EXPECT_THAT(pairs[0].files, ElementsAre("profiles/1-server.2.mdp", "profiles/2-server.mdp"))
      << "the program, not the script that executes it";
  EXPECT_THAT(pairs[1].files, ElementsAre("profiles/1-server.2.mdp", "profiles/3-server.mdp"));
  EXPECT_EQ(pairs[2].role, "client-1");
}

TEST(FlamePairs, PutTheServerFirstWhereNoGateSaysOtherwise) {
  const auto pairs = flame_pairs(traced({"before"}), {{"1-client-1.mdp", 5}, {"1-server.mdp", 5}});
  ASSERT_THAT(pairs, SizeIs(2));
  EXPECT_EQ(pairs[0].role, "server");
}

TEST(FlamePairs, AreOfOneTracerAndOfTheWholeRun) {
  Results results = traced({"before", "after"});
  for (const char* arm : {"before", "after"}) {
    TrialData other = profile_of(static_cast<int>(results.trials.size()) + 1, arm);
    other.tracer = "jemalloc";
    results.trials.push_back(other);
  }
  const auto pairs = flame_pairs(results, {{"1-server.mdp", 5},
                                           {"2-server.mdp", 5},
                                           {"3-server.jemalloc.heap", 5},
                                           {"3-server.round2.jemalloc.heap", 9},
                                           {"4-server.jemalloc.heap", 5}});
  ASSERT_THAT(pairs, SizeIs(2));
  EXPECT_EQ(pairs[0].tracer, "recorder");
  EXPECT_THAT(pairs[0].files, ElementsAre("profiles/1-server.mdp", "profiles/2-server.mdp"));
  EXPECT_EQ(pairs[1].tracer, "jemalloc");
  EXPECT_THAT(pairs[1].files,
              ElementsAre("profiles/3-server.jemalloc.heap", "profiles/4-server.jemalloc.heap"));
}

TEST(FlamePairs, ShowAnArmAloneWhereNoOtherLeftAnything) {
  const auto pairs = flame_pairs(traced({"before", "after"}), {{"2-server.mdp", 5}});
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_THAT(pairs[0].arms, ElementsAre("after"));
}

TEST(RunFlames, SayWhatIsNotInThePageAndWhy) {
  const std::vector<FlamePair> pairs = {
      {"recorder", "server", {"a", "b"}, {"profiles/1", "profiles/2"}},
      {"recorder", "client-1", {"a"}, {"profiles/3"}},
      {"recorder", "client-2", {"a"}, {"profiles/4"}},
      {"recorder", "client-3", {"a"}, {"profiles/5"}}};
  const auto read = [](const std::filesystem::path& file) {
    if (file == "run/profiles/3") throw Error(ExitCode::io, "not a profile", file.string());
    return file == "run/profiles/4" ? Profile{} : sample_profile("plain", 1);
  };
  RunFlamesOptions options;
  options.most_bytes = 1;
  const RunFlames flames = load_flames("run", pairs, read, options);
  ASSERT_THAT(flames.shown, SizeIs(1)) << "the first always fits";
  EXPECT_EQ(flames.shown[0].pair.role, "server");
  ASSERT_THAT(flames.absent, SizeIs(3));
  EXPECT_THAT(flames.absent[0].why, testing::HasSubstr("not a profile"));
  EXPECT_THAT(flames.absent[1].why, testing::HasSubstr("nothing was recorded"));
  EXPECT_THAT(flames.absent[2].why, testing::HasSubstr("too large"));
  options.most_bytes = 1 << 20;
  EXPECT_THAT(load_flames("run", pairs, read, options).shown, SizeIs(2));
}

TEST(ConfidentialProfile, HasNeitherCommandNorPathNorNote) {
  Profile profile = sample_profile("plain", 0);
  profile.info = {{"command", "train --token secret"},
                  {"program", "/srv/job/train"},
                  {"mode", "exact"},
                  {"amounts", "of /srv/job"}};
  profile.notes = {"/srv/job was cut"};
  profile.locations[0].names[0] = {"fit (/srv/job/train.py)", "/srv/job/train.py", 3};
  make_confidential(profile);
  EXPECT_EQ(profile.info, (std::map<std::string, std::string>{
                              {"program", "train"}, {"mode", "exact"}, {"amounts", "of (path)"}}));
  EXPECT_THAT(profile.notes, IsEmpty());
  EXPECT_EQ(profile.locations[0].names[0].function, "fit ((path))");
  EXPECT_EQ(profile.locations[0].names[0].file, "train.py");
}

}  // namespace
}  // namespace memduel
