#include "profilers/readers/massif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profilers/readers/testing/golden.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_golden;

TEST(Massif, HasTheSnapshotsThatMsPrintShows) {
  const Profile profile = read_golden("massif.out");
  ASSERT_EQ(profile.moments.size(), 19U);
  EXPECT_EQ(profile.moment_unit, "bytes allocated");
  EXPECT_EQ(profile.moments[9].at, 1132032);
  EXPECT_EQ(profile.moments[9].bytes, 1131408);
  EXPECT_EQ(profile.moments[9].extra_bytes, 304);
  EXPECT_EQ(profile.moments[18].bytes, 10000);
  std::vector<std::size_t> detailed;
  for (std::size_t i = 0; i < profile.moments.size(); ++i) {
    if (!profile.moments[i].sites.empty()) detailed.push_back(i);
  }
  EXPECT_THAT(detailed, ElementsAre(5, 9, 13, 17));
}

TEST(Massif, PeakHasTheTreeThatMsPrintShows) {
  const Profile profile = read_golden("massif.out");
  EXPECT_EQ(profile.peak.total.bytes, 1131408);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "allocate("), 1058576);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "hold_all()"), 1048576);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "[libstdc++.so.6.0.30]"), 72704);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "[below massif's threshold]"), 10000 + 128);
  EXPECT_THAT(largest_stack(profile, ProfileKind::peak),
              ElementsAre("main", "hold_all()", "allocate(unsigned long)"));
  EXPECT_FALSE(profile.counted);
}

TEST(Massif, ReadsPlacesWithTheirFileAndLine) {
  const Profile profile = read_golden("massif.out");
  const auto stacks = stacks_of(profile, profile.peak.sites);
  const FrameName innermost = frames_of(profile, stacks[0].first).back();
  EXPECT_EQ(innermost.file, "heap_shapes.cpp");
  EXPECT_EQ(innermost.line, 10);
}

std::string snapshots(const std::string& rest) {
  return "desc: (none)\ncmd: a\ntime_unit: i\n" + rest;
}

std::string snapshot(int number, const std::string& tree) {
  const std::string rule = "#-----------\n";
  return rule + "snapshot=" + std::to_string(number) + "\n" + rule +
         "time=7\nmem_heap_B=30\nmem_heap_extra_B=2\nmem_stacks_B=0\n" + tree;
}

TEST(Massif, AProgramThatOnlyGrewHasItsLargestDetailedSnapshotForAPeak) {
  const Profile profile = read_text(
      snapshots(snapshot(0, "heap_tree=empty\n") +
                snapshot(1, "heap_tree=detailed\nn1: 30 (roots)\n n0: 30 0x1: f (a.c:1)\n")));
  EXPECT_EQ(profile.peak.total.bytes, 30);
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, 30);
  EXPECT_THAT(profile.notes, ElementsAre(HasSubstr("massif marked no peak")));
}

TEST(Massif, SaysWhereASnapshotMakesNoSense) {
  const std::string whole =
      snapshots(snapshot(0, "heap_tree=peak\nn1: 30 (roots)\n n0: 30 0x1: f (a.c:1)\n"));
  EXPECT_THAT(problem_of(whole), IsEmpty());
  EXPECT_EQ(problem_of(whole.substr(0, whole.size() - 5)),
            "text: byte 155: the file ends inside a snapshot");
  EXPECT_EQ(problem_of(whole.substr(0, 60)), "text: byte 57: the file ends inside a snapshot");
  EXPECT_EQ(problem_of(snapshots("")), "text: byte 33: the file ends before its first snapshot");
  EXPECT_THAT(problem_of(snapshots(snapshot(0, "heap_tree=peak\nn1: 30 (roots)\n  n0: 1 f\n"))),
              HasSubstr("a node of another depth"));
  EXPECT_EQ(problem_of(snapshots(snapshot(1, "heap_tree=empty\n"))),
            "text: byte 46: expected snapshot=0");
  EXPECT_THAT(read_text(snapshots(snapshot(0, "heap_tree=empty\n"))).notes,
              ElementsAre(HasSubstr("no snapshot has stacks")));
  EXPECT_THAT(problem_of(snapshots(snapshot(0, "heap_tree=other\n"))),
              HasSubstr("expected heap_tree=empty, detailed or peak"));
}

}  // namespace
}  // namespace memduel
