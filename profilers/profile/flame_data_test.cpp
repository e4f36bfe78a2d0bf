#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flame_tree.h"
#include "profile/outputs.h"
#include "profile/recorded_files.h"

namespace memduel {
namespace {

using testing::ElementsAre;

ProfileLocation function_at(std::uint64_t address, const std::string& name) {
  return {ProfileLocation::Kind::native, std::nullopt, address, {{name, name + ".cpp", 7}}};
}

/// main calls b (at two places) and a; 10 and 20 bytes are born under b, 5 under a.
Profile small_profile() {
  Profile profile;
  profile.locations = {function_at(1, "main"), function_at(2, "b"), function_at(3, "b"),
                       function_at(4, "a")};
  profile.stacks = {{}, {0, 0}, {1, 1}, {1, 2}, {1, 3}};
  profile.phases = {"", "upload"};
  for (const auto& [stack, bytes] : {std::pair{2U, 10.0}, {3U, 20.0}, {4U, 5.0}}) {
    AllocationSite site;
    site.stack = stack;
    site.round = static_cast<int>(stack);
    site.phase = stack == 4 ? 1 : 0;
    site.thread = stack + 5;
    site.allocated = {bytes, 1, 0, 1};
    profile.sites.push_back(site);
  }
  return profile;
}

TEST(FlameTree, MergesPlacesOfOneFunctionAndSortsByName) {
  FlameTree tree;
  const Profile profile = small_profile();
  const auto node_of = tree.add(profile);
  const auto numbers = tree.sort();
  EXPECT_EQ(node_of.at(2), node_of.at(3));
  ASSERT_EQ(tree.nodes().size(), 4U);
  EXPECT_EQ(tree.frames()[0].name, "a");
  EXPECT_EQ(tree.frames()[2].name, "main");
  EXPECT_EQ(numbers[node_of.at(1)], 1U);
  EXPECT_EQ(numbers[node_of.at(4)], 2U) << "a comes before b";
  EXPECT_EQ(numbers[node_of.at(2)], 3U);
  EXPECT_EQ(tree.nodes()[3].parent, 1U);
}

TEST(FlameTree, TakesAFunctionForOneWhereverItsSourceLay) {
  Profile one = small_profile();
  Profile other = small_profile();
  for (ProfileLocation& location : other.locations) {
    location.module = 0;
    location.names[0].file = "/worktrees/b/" + location.names[0].file;
    location.names[0].line = 9;
  }
  for (ProfileLocation& location : one.locations) location.module = 0;
  one.modules = {{"/a/bin/job", "aa", 0, 0, 0}};
  other.modules = {{"/b/bin/job-new", "bb", 0, 0, 0}};
  one.info["program"] = one.modules[0].path;
  other.info["program"] = other.modules[0].path;
  other.locations[3].names[0].function += " [clone .isra.0]";
  FlameTree tree;
  const auto node_of = tree.add(one);
  EXPECT_EQ(tree.add(other), node_of);
  tree.sort();
  ASSERT_EQ(tree.nodes().size(), 4U);
  EXPECT_EQ(tree.places()[1], "b.cpp") << "as the first profile has it";
}

TEST(FlameTree, TellsFunctionsOfOneNameInTwoLibrariesApart) {
  Profile profile = small_profile();
  profile.modules = {{"/usr/lib/liba.so.1", "", 0, 0, 0}, {"/usr/lib/libb.so", "", 0, 0, 0}};
  profile.locations[1].module = 0;
  profile.locations[2].module = 1;
  FlameTree tree;
  const auto node_of = tree.add(profile);
  EXPECT_NE(node_of.at(2), node_of.at(3));
}

TEST(FlameTree, SaysWhichFramesEveryProgramHas) {
  Profile profile = small_profile();
  profile.locations[0].names[0].function = "__libc_start_main";
  profile.locations[3].names[0].function = "std::vector<int>::reserve(unsigned long)";
  FlameTree tree;
  tree.add(profile);
  tree.sort();
  EXPECT_THAT(tree.everybodys(), ElementsAre(true, false, true));
}

TEST(FlameTree, ExpandsInlinedFunctionsOutermostFirst) {
  Profile profile;
  ProfileLocation inlined = function_at(1, "inner");
  inlined.names.push_back({"outer", "outer.cpp", 1});
  profile.locations = {inlined};
  profile.stacks = {{}, {0, 0}};
  profile.sites.resize(1);
  profile.sites[0].stack = 1;
  FlameTree tree;
  tree.add(profile);
  tree.sort();
  ASSERT_EQ(tree.nodes().size(), 3U);
  EXPECT_EQ(tree.frames()[tree.nodes()[1].frame].name, "outer");
  EXPECT_EQ(tree.frames()[tree.nodes()[2].frame].name, "inner");
}

std::vector<std::uint64_t> numbers_after_head(const std::string& bytes, nlohmann::json& head) {
  TraceCursor cursor(bytes);
  head = nlohmann::json::parse(cursor.text());
  std::vector<std::uint64_t> numbers;
  while (!cursor.at_end()) numbers.push_back(cursor.number());
  return numbers;
}

TEST(FlameData, HoldsTreeSitesAndAmountsAsItsHeaderSays) {
  const Profile profile = small_profile();
  FlameDataOptions options;
  options.names = {"small.mdp"};
  options.first = ProfileKind::allocated;
  nlohmann::json head;
  const auto numbers = numbers_after_head(flame_data(profile, nullptr, options), head);
  EXPECT_EQ(head.at("nodes"), 4);
  EXPECT_EQ(head.at("views").size(), 1U);
  EXPECT_EQ(head.at("first"), 0);
  EXPECT_EQ(head.at("views")[0].at("totals")[0].at("bytes"), 35);
  EXPECT_THAT(numbers, ElementsAre(0, 2, 0, 0, 1, 1,                       // main > a, then up to b
                                   3, 6, 2, 0, 7, 0, 3, 0, 8, 1, 4, 1, 9,  // sites at nodes 3, 3, 2
                                   3, 1, 10, 1, 0, 1, 20, 1, 0, 1, 5, 1, 0));
}

TEST(FlameData, OfTwoProfilesHasOneTreeAndBothAmounts) {
  const Profile before = small_profile();
  Profile after = small_profile();
  after.locations[3].names[0].function = "c";
  FlameDataOptions options;
  options.names = {"before", "after"};
  nlohmann::json head;
  numbers_after_head(flame_data(before, &after, options), head);
  EXPECT_EQ(head.at("nodes"), 5);
  EXPECT_EQ(head.at("views")[0].at("totals").size(), 2U);
  EXPECT_EQ(head.at("profiles")[1].at("name"), "after");
}

TEST(FlameData, KeepsThePeaksAndTheRetentionOfTheLastRounds) {
  Profile profile = small_profile();
  for (int round = 1; round <= 30; ++round) {
    ProfilePeak peak;
    peak.round = round;
    peak.sites = {{0, {10, 1, 0, 1}}};
    profile.round_peaks.push_back(peak);
    profile.retention.push_back({0, round, {}, {{0, {10, 1, 0, 1}}}});
    profile.retention.push_back({1, round, {}, {{0, {10, 1, 0, 1}}}});
  }
  FlameDataOptions options;
  options.names = {"many"};
  options.rounds = 3;
  nlohmann::json head;
  numbers_after_head(flame_data(profile, nullptr, options), head);
  std::vector<int> peaks;
  std::vector<int> ends;
  for (const auto& view : head.at("views")) {
    if (view.contains("round")) peaks.push_back(view.at("round"));
    if (view.contains("end")) ends.push_back(view.at("end"));
  }
  EXPECT_THAT(peaks, ElementsAre(28, 29, 30));
  EXPECT_THAT(ends, ElementsAre(28, 29, 30)) << "births of round 1 are no longer shown";
}

}  // namespace
}  // namespace memduel
