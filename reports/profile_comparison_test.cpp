#include "reports/profile_comparison.h"

#include <gmock/gmock.h>

#include <sstream>

#include "util/error.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A stack, written "main work make", its amount at the peak, and its blocks.
struct PlantedStack {
  std::string stack;
  double bytes = 0;
  double blocks = 1;
  double variance = 0;
};

/// Of a build in `directory`, whose lines begin at `line`.
Profile profile_of(const std::vector<PlantedStack>& planted, const std::string& directory,
                   int line = 10) {
  Profile profile;
  profile.info["program"] = directory + "/job";
  for (const PlantedStack& one : planted) {
    std::uint32_t parent = 0;
    std::istringstream functions(one.stack);
    for (std::string function; functions >> function; ++line) {
      profile.locations.push_back({ProfileLocation::Kind::native,
                                   std::nullopt,
                                   static_cast<std::uint64_t>(line),
                                   {{function, directory + "/src/x.cpp", line}}});
      profile.stacks.push_back({parent, static_cast<std::uint32_t>(profile.locations.size() - 1)});
      parent = static_cast<std::uint32_t>(profile.stacks.size() - 1);
    }
    AllocationSite site;
    site.stack = parent;
    site.allocated = {one.bytes, one.blocks, one.variance, 1};
    if (one.variance > 0) profile.info["mode"] = "sampled";
    profile.peak.total += site.allocated;
    profile.peak.sites.emplace_back(static_cast<std::uint32_t>(profile.sites.size()),
                                    site.allocated);
    profile.sites.push_back(site);
  }
  return profile;
}

constexpr double kOneMiB = 1 << 20;

ProfileComparison of_two_builds() {
  return compare_profiles(
      profile_of({{"main run make", 8 * kOneMiB}, {"main load", 3000, 20}}, "/home/a"),
      profile_of({{"main run make", 24 * kOneMiB}, {"main load", 2000, 15}}, "/build/b", 30),
      {"old.mdp", "new.mdp"});
}

TEST(ProfileComparison, BeginsWithTheAnswer) {
  const std::string text = comparison_text(of_two_builds(), {});
  EXPECT_EQ(text.substr(0, text.find('\n')), "Peak heap: +16.0 MiB (8.00 → 24.0 MiB, 3.0×)");
  EXPECT_THAT(text, HasSubstr("Baseline: old.mdp; candidate: new.mdp\n"
                              "No claim about variation: one profile each."));
}

TEST(ProfileComparison, MatchesStacksOfTwoBuildDirectories) {
  EXPECT_THAT(comparison_text(of_two_builds(), {}),
              HasSubstr("\nPeak heap: 2 stacks differ\n"
                        "   1. +16.0 MiB (8.00 → 24.0 MiB, 3.0×)\n"
                        "        make, called from run  x.cpp:32\n"
                        "        called from main\n"
                        "   2. −1000 B (2.93 → 1.95 KiB, −33.3%), 20 → 15 allocations\n"
                        "        load, called from main  x.cpp:14\n"));
}

TEST(ProfileComparison, HasTotalsOfWhatBothProfilesHave) {
  std::vector<std::string> metrics;
  const ProfileComparison comparison = of_two_builds();
  for (const ProfileTotal& total : comparison.totals) metrics.push_back(total.metric);
  EXPECT_THAT(metrics, ElementsAre("peak_heap_bytes", "allocated_bytes", "allocation_count"));
  EXPECT_EQ(comparison.totals[2].change(), -5);
  EXPECT_THAT(comparison_text(comparison, {}),
              HasSubstr("  allocations                      21          16"
                        "                −5  −23.8%\n"));
}

TEST(ProfileComparison, CountersOfBothWinOverStacks) {
  Profile a = profile_of({{"main make", 100}}, "/a");
  Profile b = profile_of({{"main make", 300}}, "/b");
  a.counters = HeapTotals{.peak_bytes = 116, .allocated_bytes = 100, .allocations = 1};
  EXPECT_EQ(compare_profiles(a, b, {"a", "b"}).totals.front().baseline, 100)
      << "one profile has no counters";
  b.counters = HeapTotals{.peak_bytes = 316, .allocated_bytes = 300, .allocations = 1};
  const ProfileComparison comparison = compare_profiles(a, b, {"a", "b"});
  EXPECT_EQ(comparison.totals.front().metric, "peak_heap_bytes");
  EXPECT_EQ(comparison.totals.front().change(), 200);
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("with malloc's overhead"));
}

TEST(ProfileComparison, CountsWhatIsNotShown) {
  const Profile few =
      profile_of({{"main one", 1024}, {"main two", 1024}, {"main three", 1024}}, "/a");
  const Profile many =
      profile_of({{"main one", 5120}, {"main two", 4096}, {"main three", 512}}, "/a");
  SummaryOptions options;
  options.stacks = 1;
  EXPECT_THAT(comparison_text(compare_profiles(few, many, {"a", "b"}), options),
              HasSubstr("one, called from main  x.cpp:11\n"
                        "      and 2 smaller differences: +3.00 KiB, −512 B; --stacks N prints "
                        "more\n"));
}

TEST(ProfileComparison, OfEqualProfilesHasNoDifference) {
  const Profile profile = profile_of({{"main make", 4096}}, "/a");
  const std::string text = comparison_text(compare_profiles(profile, profile, {"a", "b"}), {});
  EXPECT_THAT(text, HasSubstr("Peak heap: unchanged (4.00 KiB)\n"));
  EXPECT_THAT(text, HasSubstr("Nothing differs: the totals are equal, and no stack differs.\n"));
}

TEST(ProfileComparison, OfSamplesShowsOnlyWhatIsBeyondTheirInterval) {
  const ProfileComparison comparison = compare_profiles(
      profile_of({{"main make", 4096, 1, 100}, {"main load", 50, 1, 900}}, "/a"),
      profile_of({{"main make", 8192, 1, 100}, {"main load", 60, 1, 900}}, "/b"), {"a", "b"});
  const std::string text = comparison_text(comparison, {});
  // 1.96 * sqrt(100 + 100) of the stack, and 1.96 * sqrt(2000) of the total.
  EXPECT_THAT(text, HasSubstr("Peak heap: 1 stack differs by more than the sampling error\n"
                              "   1. +4.00 ± 0.03 KiB (4.00 → 8.00 KiB, 2.0×)\n"));
  EXPECT_NEAR(comparison.totals.front().half_width, 87.7, 0.1);
}

TEST(ProfileComparison, IsJsonWithUnitsInItsKeys) {
  const nlohmann::json written = comparison_json(of_two_builds(), 1);
  EXPECT_EQ(written.at("schema"), "memduel.profile_comparison/1");
  EXPECT_EQ(written.at("baseline").at("file"), "old.mdp");
  EXPECT_EQ(written.at("candidate").at("counting"), "requested bytes of every allocation");
  EXPECT_EQ(written.at("totals")[0], nlohmann::json({{"metric", "peak_heap_bytes"},
                                                     {"baseline", 8 * kOneMiB + 3000},
                                                     {"candidate", 24 * kOneMiB + 2000},
                                                     {"change", 16 * kOneMiB - 1000},
                                                     {"half_width", nullptr}}));
  EXPECT_EQ(written.at("difference_totals")[0].at("stacks"), 2);
  ASSERT_EQ(written.at("differences").size(), 2U)
      << "one of the peak and one of what was allocated";
  const nlohmann::json& most = written.at("differences")[0];
  EXPECT_EQ(most.at("bytes"), 16 * kOneMiB);
  EXPECT_EQ(most.at("baseline_bytes"), 8 * kOneMiB);
  EXPECT_EQ(most.at("stack"), nlohmann::json({"main", "run", "make"}));
  EXPECT_EQ(most.at("location"), "x.cpp:32");
}

TEST(ProfileComparison, OfTimeIsInSeconds) {
  Profile a = profile_of({{"main work", 2e9}}, "/a");
  a.unit = ProfileUnit::nanoseconds;
  a.info["profiler"] = "pprof";
  a.peak = {};
  Profile b = a;
  b.sites[0].allocated.bytes = 3e9;
  const ProfileComparison comparison = compare_profiles(a, b, {"a", "b"});
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("Time: +1.0 s (2.0 → 3.0 s, +50.0%)\n"));
  EXPECT_EQ(comparison_json(comparison, 1).at("differences")[0].at("nanoseconds"), 1e9);
}

TEST(ProfileComparison, OfADamagedProfileIsRefused) {
  const Profile whole = profile_of({{"main", 1}}, "/a");
  Profile half = whole;
  half.is_recovered = true;
  half.notes = {"recovered 1 of 2 blocks"};
  try {
    compare_profiles(whole, half, {"a.mdp", "b.mdp"});
    ADD_FAILURE() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_EQ(error.where(), "b.mdp");
    EXPECT_THAT(error.what(), HasSubstr("found a damaged one: recovered 1 of 2 blocks"));
  }
}

TEST(ProfileComparison, OfTwoToolsHasNoMappedMemoryThatOneOfThemCounts) {
  Profile recorded = profile_of({{"main", 4096}}, "/a");
  recorded.mapping_peak.total = {8192, 1, 0, 1};
  Profile foreign = profile_of({{"main", 4096}}, "/a");
  foreign.facts = ToolFacts{"memray", CountedSize::requested, true, false, false};
  foreign.info["profiler"] = "memray";
  foreign.counted = false;
  const ProfileComparison comparison = compare_profiles(recorded, foreign, {"a", "b"});
  ASSERT_EQ(comparison.totals.size(), 1U);
  EXPECT_EQ(comparison.totals.front().metric, "peak_heap_bytes");
}

TEST(ProfileComparison, OfBytesAndTimeIsRefused) {
  Profile time = profile_of({{"main", 1}}, "/a");
  time.unit = ProfileUnit::nanoseconds;
  EXPECT_THROW(compare_profiles(profile_of({{"main", 1}}, "/a"), time, {"a", "b"}), Error);
}

}  // namespace
}  // namespace memduel
