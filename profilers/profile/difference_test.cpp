#include "profile/difference.h"

#include <gmock/gmock.h>

#include <map>
#include <sstream>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// One stack, written "main work make", with what is live there at the peak.
struct Planted {
  std::string stack;
  double bytes = 0;
  std::string phase{};
  double variance = 0;
};

/// Every call gives other addresses and lines.
Profile build_with(const std::vector<Planted>& planted, const std::string& program = "job") {
  static std::uint64_t address = 1;
  Profile profile;
  profile.info["program"] = "/opt/" + std::to_string(address) + "/" + program;
  for (const Planted& one : planted) {
    std::uint32_t parent = 0;
    std::istringstream functions(one.stack);
    for (std::string function; functions >> function; ++address) {
      profile.locations.push_back({ProfileLocation::Kind::native,
                                   std::nullopt,
                                   address,
                                   {{function, "job.cpp", static_cast<int>(address)}}});
      profile.stacks.push_back({parent, static_cast<std::uint32_t>(profile.locations.size() - 1)});
      parent = static_cast<std::uint32_t>(profile.stacks.size() - 1);
    }
    AllocationSite site;
    site.stack = parent;
    site.allocated = {one.bytes, 1, one.variance, 1};
    if (!one.phase.empty()) {
      profile.phases.push_back(one.phase);
      site.phase = static_cast<std::uint32_t>(profile.phases.size() - 1);
    }
    profile.peak.sites.emplace_back(static_cast<std::uint32_t>(profile.sites.size()),
                                    site.allocated);
    profile.sites.push_back(site);
  }
  return profile;
}

/// The function is known to the build, although no memory was allocated under it.
void knows(Profile& profile, const std::string& function) {
  profile.locations.push_back(
      {ProfileLocation::Kind::native, std::nullopt, 0, {{function, "", 0}}});
}

ProfileDifference peaks_of(const Profile& a, const Profile& b) {
  return profile_difference({{a}}, {{b}}, DifferenceKind::peak, Heap::malloc);
}

TEST(ProfileDifference, MatchesStacksByFunctionWhateverTheirAddressesAndLines) {
  const ProfileDifference difference =
      peaks_of(build_with({{"main load", 100}, {"main parse", 50}}),
               build_with({{"main load", 140}, {"main parse", 50}}));
  EXPECT_EQ(difference.baseline.bytes, 150);
  EXPECT_EQ(difference.candidate.bytes, 190);
  EXPECT_EQ(difference.unmatched_share, 0);
  EXPECT_EQ(difference.moved, 40);
  ASSERT_EQ(difference.stacks.size(), 1U) << "parse is as it was";
  EXPECT_THAT(difference.stacks[0].stack, ElementsAre("main", "load"));
  EXPECT_EQ(difference.stacks[0].bytes(), 40);
}

/// Has `amounts` by line of `load (FILE)`, which calls malloc.
Profile loads_in(const std::string& file, const std::map<int, double>& amounts) {
  Profile profile;
  profile.locations = {{ProfileLocation::Kind::native, std::nullopt, 1, {{"main", file, 3}}},
                       {ProfileLocation::Kind::native, std::nullopt, 2, {{"malloc", "", 0}}}};
  profile.stacks.push_back({0, 0});
  for (const auto& [line, bytes] : amounts) {
    profile.locations.push_back(
        {ProfileLocation::Kind::native, std::nullopt, 3, {{"load", file, line}}});
    profile.stacks.push_back({1, static_cast<std::uint32_t>(profile.locations.size() - 1)});
    profile.stacks.push_back({static_cast<std::uint32_t>(profile.stacks.size() - 1), 1});
    AllocationSite site;
    site.stack = static_cast<std::uint32_t>(profile.stacks.size() - 1);
    site.allocated = {bytes, 1, 0, 1};
    profile.peak.sites.emplace_back(static_cast<std::uint32_t>(profile.sites.size()),
                                    site.allocated);
    profile.sites.push_back(site);
  }
  return profile;
}

std::string location_of(const Profile& a, const Profile& b) {
  const ProfileDifference difference =
      profile_difference({{a}}, {{b}}, DifferenceKind::peak, Heap::malloc, {"/a", "/b"});
  return difference.stacks.size() == 1 ? difference.stacks[0].location : "not one stack";
}

TEST(ProfileDifference, SaysWhichLineChangedOfTheSideThatHasMore) {
  const Profile few = loads_in("/a/src/x.cpp", {{10, 500}, {12, 40}});
  const Profile many = loads_in("/b/src/x.cpp", {{20, 500}, {22, 90}});
  EXPECT_EQ(location_of(few, many), "src/x.cpp:22");
  EXPECT_EQ(location_of(many, few), "src/x.cpp:22") << "of the baseline: the candidate has less";
  EXPECT_EQ(location_of(few, loads_in("/b/src/x.cpp", {{20, 500}, {22, 40}, {24, 7}})),
            "src/x.cpp:24");
}

TEST(ProfileDifference, HasNoLocationWithoutLines) {
  EXPECT_EQ(location_of(loads_in("", {{0, 500}}), loads_in("", {{0, 600}})), "");
  EXPECT_EQ(location_of(loads_in("/a/x.cpp", {{3, 500}}), loads_in("", {{0, 600}})), "");
}

TEST(ProfileDifference, OfARecursionIsTheLineOfItsLastCall) {
  const auto recursive = [](double bytes) {
    Profile profile = build_with({{"main walk walk walk malloc", bytes}});
    for (int depth : {1, 2, 3}) profile.locations[depth].names[0].line = 10 + depth;
    return profile;
  };
  EXPECT_EQ(location_of(recursive(100), recursive(140)), "job.cpp:13");
}

TEST(ProfileDifference, MatchesAFunctionThatOneBuildInlinedAway) {
  // Without debug information an inlined function is in no stack, and nowhere in that build.
  const ProfileDifference difference = peaks_of(build_with({{"main work make", 100}}),
                                                build_with({{"main work", 130}, {"main", 8}}));
  ASSERT_EQ(difference.stacks.size(), 2U);
  EXPECT_EQ(difference.stacks[0].bytes(), 30);
  EXPECT_EQ(difference.stacks[1].bytes(), 8) << "main alone is another stack";
  EXPECT_DOUBLE_EQ(difference.unmatched_share, 8.0 / 238);
}

TEST(ProfileDifference, MatchesACallThatOneBuildInlinedHereAndKeptElsewhere) {
  Profile inlined = build_with({{"main run alloc", 130}});
  knows(inlined, "step");
  const ProfileDifference difference =
      peaks_of(build_with({{"main run step alloc", 100}}), inlined);
  EXPECT_EQ(difference.unmatched_share, 0);
  ASSERT_EQ(difference.stacks.size(), 1U);
  EXPECT_THAT(difference.stacks[0].stack, ElementsAre("main", "run", "step", "alloc"))
      << "the fuller one";
  EXPECT_EQ(difference.stacks[0].bytes(), 30);
}

TEST(ProfileDifference, DoesNotTakeADistantCallForAnInlinedOne) {
  Profile other = build_with({{"main alloc", 130}});
  for (const char* function : {"a", "b", "c", "d"}) knows(other, function);
  const ProfileDifference difference = peaks_of(build_with({{"main a b c d alloc", 100}}), other);
  EXPECT_EQ(difference.unmatched_share, 1);
}

TEST(ProfileDifference, GivesANewFunctionARowOfItsOwnAndCountsItAsUnmatched) {
  const ProfileDifference difference =
      peaks_of(build_with({{"main fit", 100}}),
               build_with({{"main fit", 100}, {"main fit keep_update", 50}}));
  ASSERT_EQ(difference.stacks.size(), 1U);
  EXPECT_THAT(difference.stacks[0].stack, ElementsAre("main", "fit", "keep_update"));
  EXPECT_EQ(difference.stacks[0].bytes(), 50);
  EXPECT_DOUBLE_EQ(difference.unmatched_share, 50.0 / 250);
}

TEST(ProfileDifference, OfUnrelatedProgramsMatchesNothing) {
  const ProfileDifference difference =
      peaks_of(build_with({{"start_a grow_a", 100}}), build_with({{"start_b grow_b", 70}}));
  EXPECT_EQ(difference.unmatched_share, 1);
  ASSERT_EQ(difference.stacks.size(), 2U);
  EXPECT_EQ(difference.stacks[0].bytes(), -100);
}

TEST(ProfileDifference, NamesThePhaseThatTheDifferenceWasBornIn) {
  const ProfileDifference difference =
      peaks_of(build_with({{"main alloc", 100, "load"}, {"main alloc", 10, "train"}}),
               build_with({{"main alloc", 100, "load"}, {"main alloc", 60, "train"}}));
  ASSERT_EQ(difference.stacks.size(), 1U);
  EXPECT_EQ(difference.stacks[0].phase, "train");
}

TEST(ProfileDifference, LeavesOutWhatSamplingExplains) {
  // Both intervals are 1.96 * 10 wide, their difference's 27.7.
  const auto with = [](double bytes) { return build_with({{"main alloc", bytes, "", 100}}); };
  EXPECT_THAT(peaks_of(with(100), with(127)).stacks, IsEmpty());
  EXPECT_EQ(peaks_of(with(100), with(128)).stacks.size(), 1U);
}

TEST(ProfileDifference, TakesTotalsFromTheCountersBesideSamples) {
  const auto with = [](double bytes, std::int64_t counted) {
    Profile profile = build_with({{"main alloc", bytes, "", 100}});
    profile.info["mode"] = "sampled";
    profile.counters.emplace();
    profile.counters->peak_bytes = counted;
    return profile;
  };
  const ProfileDifference difference = peaks_of(with(100, 91), with(140, 130));
  EXPECT_EQ(difference.counted_baseline, 91);
  EXPECT_EQ(difference.counted_candidate, 130);
  EXPECT_EQ(peaks_of(build_with({{"main alloc", 100}}), with(140, 130)).counted_baseline,
            std::nullopt);
}

TEST(ProfileDifference, CallsNothingOneSidedThatTheOtherSidesSamplesMayHaveMissed) {
  // One sample: 1.96 * 100 is more than its 100 bytes.
  const ProfileDifference difference =
      peaks_of(build_with({{"main often", 1000}, {"main once", 100, "", 100 * 100}}),
               build_with({{"main often", 1000}}));
  EXPECT_EQ(difference.unmatched_share, 0);
}

TEST(ProfileDifference, TakesTheMeanOfTrialsAndOfEqualProcessesTheLargest) {
  const Profile small = build_with({{"main alloc", 10}});
  const Profile large = build_with({{"main alloc", 30}});
  const Profile shell = build_with({{"main read_line", 4}}, "sh");
  const ProfileSide two_trials = {{shell, small, large}, {shell, large, large}};
  const ProfileDifference peak =
      profile_difference({{}}, two_trials, DifferenceKind::peak, Heap::malloc);
  EXPECT_EQ(peak.candidate.bytes, 34);
  const ProfileDifference allocated =
      profile_difference({{}}, two_trials, DifferenceKind::allocated, Heap::malloc);
  EXPECT_EQ(allocated.candidate.bytes, (44 + 64) / 2.0);
}

TEST(ProfileDifference, RanksAllocationsByTheirNumber) {
  const Profile a = build_with({{"main big", 1000}});
  const Profile b = build_with({{"main big", 1000},
                                {"main big", 3000},
                                {"main small", 1},
                                {"main small", 1},
                                {"main small", 1}});
  const ProfileDifference difference =
      profile_difference({{a}}, {{b}}, DifferenceKind::allocations, Heap::malloc);
  ASSERT_EQ(difference.stacks.size(), 2U);
  EXPECT_THAT(difference.stacks[0].stack, ElementsAre("main", "small"));
  EXPECT_EQ(difference.stacks[0].blocks(), 3);
  EXPECT_EQ(difference.moved, 4);
}

TEST(ProfileDifference, RetainedIsWhatTheLastRoundsEndHoldsOfEarlierRounds) {
  Profile profile = build_with({{"main model", 100}, {"main keep", 10}});
  const auto cell = [&](int born, int end, std::uint32_t site, double bytes) {
    RetentionCell one;
    one.born = born;
    one.end = end;
    one.sites = {{site, {bytes, 1, 0, 1}}};
    profile.retention.push_back(one);
  };
  cell(0, 2, 0, 100);  // the model was there before the rounds
  cell(1, 1, 1, 7);
  cell(1, 2, 1, 7);
  cell(2, 2, 1, 8);
  const ProfileDifference difference =
      profile_difference({{}}, {{profile}}, DifferenceKind::retained, Heap::malloc);
  ASSERT_EQ(difference.stacks.size(), 1U);
  EXPECT_THAT(difference.stacks[0].stack, ElementsAre("main", "keep"));
  EXPECT_EQ(difference.stacks[0].bytes(), 15);
}

/// The same with a snapshot of all of it.
Profile with_snapshot(Profile profile) {
  ResidentSnapshot snapshot;
  snapshot.sites = profile.peak.sites;
  for (const auto& entry : snapshot.sites) snapshot.kernel_bytes += entry.second.bytes;
  profile.resident = std::move(snapshot);
  return profile;
}

TEST(ProfileDifference, OfResidentMemoryIsOfTheLargestSnapshotWhereNothingTellsWhoRanAtOnce) {
  const Profile compiler = with_snapshot(build_with({{"live parse", 100}}, "cc1plus"));
  const Profile smaller = with_snapshot(build_with({{"live parse", 90}}, "cc1plus"));
  const Profile assembler = with_snapshot(build_with({{"live assemble", 60}}, "as"));
  const ProfileSide baseline = {{compiler, assembler}, {smaller, assembler}};
  const ProfileSide candidate = {{with_snapshot(build_with({{"live parse", 130}}, "cc1plus"))}};
  const ProfileDifference difference =
      profile_difference(baseline, candidate, DifferenceKind::resident, Heap::malloc);
  EXPECT_EQ(difference.baseline.bytes, 100);
  EXPECT_EQ(difference.candidate.bytes, 130);
  ASSERT_EQ(difference.stacks.size(), 1U);
  EXPECT_EQ(difference.stacks[0].bytes(), 30);
}

}  // namespace
}  // namespace memduel
