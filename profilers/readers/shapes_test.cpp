// One program, testdata/heap_shapes.cpp, under four tools: each file has the bytes that the program
// allocates, but for what its tool cannot see.
//
// Allocated: libstdc++'s pool of 72704 bytes before main, 10 blocks of 1000 bytes that stay, 16 of
// 64 KiB at once, 500 of 32 one after the other, and a vector that grew to 16 pointers, 8 + 16 + …
#include <gtest/gtest.h>

#include "profile/difference.h"
#include "readers/read_profile.h"
#include "test_golden_files.h"

namespace memduel {
namespace {

using namespace testing_golden;

constexpr double kPool = 72704;
constexpr double kKept = 10 * 1000;
constexpr double kHeld = 16 * 65536;
constexpr double kPeak = kPool + kKept + kHeld + 16 * 8;
constexpr double kAllocated = kPool + kKept + kHeld + 500 * 32 + (8 + 16 + 32 + 64 + 128);

double bytes(const Profile& profile, ProfileKind kind) {
  return total_of(profile, kind).bytes;
}

TEST(Shapes, TheRecorderHasWhatTheProgramAllocates) {
  const Profile profile = read_profile(golden_file("shapes.mdp"));
  EXPECT_EQ(bytes(profile, ProfileKind::peak), kPeak);
  EXPECT_EQ(bytes(profile, ProfileKind::allocated), kAllocated);
  EXPECT_EQ(bytes(profile, ProfileKind::live), kPool + kKept);
}

TEST(Shapes, HeaptrackIsTheSameButForThePoolThatItHasFreed) {
  for (const char* file : {"heaptrack.gz", "heaptrack.raw.zst"}) {
    const Profile profile = read_golden(file);
    EXPECT_EQ(bytes(profile, ProfileKind::peak), kPeak) << file;
    EXPECT_EQ(bytes(profile, ProfileKind::allocated), kAllocated) << file;
    EXPECT_EQ(bytes(profile, ProfileKind::live), kKept) << file;
  }
}

TEST(Shapes, HeaptracksStacksHoldWhatTheRecordersHold) {
  const Profile recorder = read_profile(golden_file("shapes.mdp"));
  const Profile heaptrack = read_golden("heaptrack.gz");
  for (const char* function : {"main", "hold_all", "leak", "come_and_go"}) {
    for (const ProfileKind kind : {ProfileKind::peak, ProfileKind::allocated})
      EXPECT_EQ(bytes_below(heaptrack, kind, function), bytes_below(recorder, kind, function))
          << function;
  }
}

TEST(Shapes, GperftoolsBeginsAfterThePool) {
  const Profile profile = read_golden("gperftools.heap");
  EXPECT_FALSE(facts_of(profile).has_peak);
  EXPECT_EQ(bytes(profile, ProfileKind::allocated), kAllocated - kPool);
  EXPECT_EQ(bytes(profile, ProfileKind::live), kKept);
}

TEST(Shapes, JemallocIsWithinItsSamplesAndSizeClasses) {
  const Profile profile = read_golden("jemalloc.heap");
  EXPECT_EQ(counting_of(facts_of(profile)), "bytes of size classes, one sample per 16.0 KiB");
  EXPECT_NEAR(bytes(profile, ProfileKind::allocated), 1218065, 1);  // jeprof's
  EXPECT_NEAR(bytes(profile, ProfileKind::live), 99395, 1);
}

TEST(Shapes, ACutDumpKeepsWhatItLostInOneFrame) {
  // Its first line less what google-pprof finds (totals.txt). Whose stacks these were depends on
  // the names that a machine has.
  EXPECT_EQ(bytes_below(read_golden("gperftools-cut.heap.gz"), ProfileKind::live, kCutOffFrame),
            246112 - 160672);
}

}  // namespace
}  // namespace memduel
