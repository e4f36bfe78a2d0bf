#include <gmock/gmock.h>

#include "profile/difference.h"
#include "util/error.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kNames = {"before", "after"};

/// With 10 bytes of each of the kinds; of the recorder where `tracer` is empty.
Profile compared(const std::string& tracer, const std::vector<ProfileKind>& kinds,
                 const std::optional<ToolFacts>& facts = std::nullopt) {
  Profile profile;
  profile.facts = facts;
  if (!tracer.empty()) profile.info["profiler"] = tracer;
  AllocationSite site;
  const Estimate ten{10, 1, 0, 1};
  for (const ProfileKind kind : kinds) {
    if (kind == ProfileKind::live) site.live = ten;
    if (kind == ProfileKind::allocated) site.allocated = ten;
    if (kind != ProfileKind::peak) continue;
    profile.peak.total = ten;
    profile.peak.sites = {{0, ten}};
  }
  profile.sites = {site};
  return profile;
}

std::string refusal(const Profile& a, const Profile& b) {
  try {
    comparability_of(a, b, kNames);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(Comparability, OfOneToolHasNoWarning) {
  using enum ProfileKind;
  const ToolFacts heaptrack = {"heaptrack", CountedSize::requested, true, true, true};
  const Profile before = compared("heaptrack 1.3.0", {peak, allocated, live}, heaptrack);
  const Comparability both =
      comparability_of(before, compared("heaptrack 1.4.0", {peak, allocated}, heaptrack), kNames);
  EXPECT_TRUE(both.one_tool);
  EXPECT_THAT(both.warning, IsEmpty());
  EXPECT_THAT(both.kinds, ElementsAre(peak, live, allocated, temporary)) << "nothing leaked after";
}

TEST(Comparability, OfSamplesAndEveryAllocationStatesThePrecision) {
  using enum ProfileKind;
  Profile sampled = compared("", {peak, allocated, live});
  sampled.info["mode"] = "sampled";
  sampled.info["interval_bytes"] = "524288";
  EXPECT_EQ(comparability_of(compared("", {peak, allocated, live}), sampled, kNames).warning,
            "before has requested bytes of every allocation, after has requested bytes, one sample "
            "per 512.0 KiB: a difference of stacks is as precise as the less precise profile");
}

TEST(Comparability, OfTwoToolsSaysWhatEachCountsAndWhatIsCompared) {
  using enum ProfileKind;
  Profile jemalloc = compared("jemalloc", {allocated, live},
                              ToolFacts{"jemalloc", CountedSize::size_classes, false, true, true});
  jemalloc.info["mode"] = "sampled";
  jemalloc.info["interval_bytes"] = "524288";
  const Comparability both =
      comparability_of(compared("", {peak, allocated, live}), jemalloc, kNames);
  EXPECT_THAT(both.kinds, ElementsAre(live, allocated));
  EXPECT_EQ(
      both.warning,
      "before is of memduel (requested bytes of every allocation) and after of jemalloc (bytes of "
      "size classes, one sample per 512.0 KiB): tools count differently, so that a "
      "difference may be theirs and not the program's. Compared: live, allocated");
}

TEST(Comparability, OfAFormatThatManyToolsWriteIsWhatIsThere) {
  using enum ProfileKind;
  // Two files of memray in formats that have one amount each.
  EXPECT_THAT(
      refusal(compared("memray (gprof2dot)", {peak}), compared("memray (stats)", {allocated})),
      HasSubstr("before has peak and after has allocated: they have no amount in common"));
  const Comparability same = comparability_of(compared("pprof", {live, allocated}),
                                              compared("pprof", {allocated}), kNames);
  EXPECT_THAT(same.warning, IsEmpty());
  EXPECT_THAT(same.kinds, ElementsAre(peak, live, allocated, temporary))
      << "nothing is live any more";
  const Comparability formats =
      comparability_of(compared("memray (gprof2dot)", {peak}),
                       compared("memray@1.20.0 (gprof2dot)", {peak}), kNames);
  EXPECT_TRUE(formats.one_tool);
  EXPECT_THAT(formats.kinds, ElementsAre(peak, temporary));
}

TEST(Comparability, OfBytesAndTimeIsNone) {
  using enum ProfileKind;
  Profile time = compared("pprof", {allocated});
  time.unit = ProfileUnit::nanoseconds;
  EXPECT_THAT(refusal(compared("", {allocated}), time),
              HasSubstr("before has bytes and after has nanoseconds: they cannot be compared"));
}

}  // namespace
}  // namespace memduel
