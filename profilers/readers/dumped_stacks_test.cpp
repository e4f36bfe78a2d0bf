// The dumps of gperftools and jemalloc, held to what google-pprof and jeprof say of them.
#include "dumped_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "test_golden_files.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_golden;

TEST(GperftoolsHeap, ExactDumpHasWhatPprofSays) {
  const Profile profile = read_golden("gperftools.heap");
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, 10000);
  EXPECT_EQ(total_of(profile, ProfileKind::live).count, 10);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 1074824);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count, 531);
  EXPECT_FALSE(profile.sampled());
}

TEST(GperftoolsHeap, SamplesAreUnbiasedAsPprofDoes) {
  const Profile profile = read_golden("sampled.heap");
  EXPECT_NEAR(total_of(profile, ProfileKind::live).bytes, 25169591, 1);
  EXPECT_NEAR(total_of(profile, ProfileKind::live).count, 50.34, 0.01);
  EXPECT_TRUE(profile.sampled());
  // 50 blocks of 500000 bytes, each sampled with p = 1 - e^-5.
  const double p = 1 - std::exp(-5.0);
  EXPECT_NEAR(total_of(profile, ProfileKind::live).variance,
              50 * 500000.0 * 500000 * (1 - p) / p / p, 1e3);
}

TEST(GperftoolsHeap, ATruncatedDumpIsReportedWithItsLoss) {
  const Profile profile = read_golden("gperftools-cut.heap.gz");
  // Its first line says 246112 live and 1310936 allocated; google-pprof finds 160672 of the live.
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, 246112);
  EXPECT_EQ(total_of(profile, ProfileKind::live).count, 9851);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 1310936);
  EXPECT_EQ(bytes_below(profile, ProfileKind::live, "[cut off]"), 246112 - 160672);
  ASSERT_FALSE(profile.notes.empty());
  EXPECT_THAT(profile.notes.back(), HasSubstr("truncated by gperftools, whose limit is 1 MiB: "
                                              "83.4 KiB live (34.7%)"));
}

TEST(GperftoolsHeap, AWholeDumpIsNotReportedAsTruncated) {
  for (const std::string& note : read_golden("gperftools.heap").notes) {
    EXPECT_EQ(note.find("truncated"), std::string::npos) << note;
  }
}

constexpr const char* kGperftools =
    "heap profile: 1: 10 [2: 30] @ heapprofile\n  1: 10 [2: 30] @ 0x11 0x22\n\n";

TEST(GperftoolsHeap, SaysWhereADumpMakesNoSense) {
  const std::string text(kGperftools);
  EXPECT_EQ(problem_of(text + "\nMAPPED_LIBRARIES:\n"), "");
  EXPECT_EQ(problem_of(text), "text: byte 71: the file ends before its MAPPED_LIBRARIES");
  EXPECT_EQ(problem_of(text.substr(0, 60)), "text: byte 42: the file ends inside a stack");
  EXPECT_EQ(problem_of(text + "MAPPED_LIBRARIES:\n00400000-00"),
            "text: byte 89: the file ends inside its list of mapped files");
  EXPECT_EQ(problem_of(text + "MAPPED_LIBRARIES:\nnothing\n"),
            "text: byte 89: expected a line of /proc/PID/maps");
  EXPECT_EQ(problem_of("heap profile: 1: 10 [2: 30] @ growthz\n"),
            "text: byte 30: line 1: expected heapprofile or heap_v2/INTERVAL");
  EXPECT_EQ(problem_of("heap profile: 1: x\n"), "text: byte 17: line 1: expected a number");
}

TEST(Jemalloc, IsUnbiasedAsJeprofDoes) {
  const Profile profile = read_golden("jemalloc.heap");
  EXPECT_NEAR(total_of(profile, ProfileKind::live).bytes, 99395, 1);
  EXPECT_NEAR(total_of(profile, ProfileKind::live).count, 17, 1);
  EXPECT_NEAR(total_of(profile, ProfileKind::allocated).bytes, 1218065, 1);
  EXPECT_NEAR(total_of(profile, ProfileKind::allocated).count, 1571, 1);
  EXPECT_TRUE(profile.sampled());
  EXPECT_EQ(profile.info.at("interval_bytes"), "16384");
}

TEST(HeapDumps, EndInWhoAskedForTheBlock) {
  for (const char* file : {"jemalloc.heap", "sampled.heap"}) {
    const Profile profile = read_golden(file);
    for (const auto& [stack, amount] :
         stacks_of(profile, sites_of(profile, ProfileKind::allocated))) {
      for (const FrameName& frame : frames_of(profile, stack)) {
        EXPECT_EQ(frame.function.find("malloc."), std::string::npos) << file << frame.function;
        EXPECT_EQ(frame.file.find("malloc.so"), std::string::npos) << file << frame.function;
      }
    }
  }
}

/// Frames of a program without modules, by name, innermost first.
std::size_t own_frames(const std::vector<std::string>& names) {
  Profile profile;
  std::vector<std::uint32_t> locations;
  for (const std::string& name : names) {
    profile.locations.push_back(
        {ProfileLocation::Kind::native, std::nullopt, 0, {{"inlined", {}, 0}, {name, {}, 0}}});
    locations.push_back(static_cast<std::uint32_t>(locations.size()));
  }
  return allocator_frames(profile, locations);
}

TEST(HeapDumps, DropWhatPprofAndJeprofDrop) {
  EXPECT_EQ(own_frames({"prof_backtrace", "imalloc", "je_malloc", "operator new(unsigned long)",
                        "load()", "main"}),
            4U);
  EXPECT_EQ(own_frames({"load()", "malloc", "main"}), 2U);  // jeprof: whatever is inside of it
  EXPECT_EQ(own_frames({"prof_alloc_prep", "load()", "prof_load", "main"}), 1U);
  EXPECT_EQ(own_frames({"load()", "prof_load", "main"}), 0U);
  EXPECT_EQ(own_frames({"malloc_wrapper", "main"}), 0U);
  EXPECT_EQ(own_frames({}), 0U);
}

TEST(Jemalloc, CountsAllThreadsOnceAndSaysWhereItMakesNoSense) {
  const std::string text =
      "heap_v2/1\n  t*: 3: 30 [0: 0]\n  t0: 1: 10 [0: 0]\n@ 0x11 0x22\n  t*: 3: 30 [0: 0]\n"
      "  t0: 1: 10 [0: 0]\n  t1: 2: 20 [0: 0]\n";
  const Profile profile = read_text(text + "\nMAPPED_LIBRARIES:\n");
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, 30);
  EXPECT_THAT(sites_of(profile, ProfileKind::allocated), IsEmpty());
  EXPECT_THAT(problem_of(text), HasSubstr("the file ends before its MAPPED_LIBRARIES"));
  EXPECT_EQ(problem_of(text.substr(0, 40)), "text: byte 29: the file ends inside a line");
  EXPECT_EQ(problem_of("heap_v2/1\n@ 22\n"), "text: byte 12: line 2: expected an address");
}

TEST(Unbiased, StandsForItselfWhereAllWasSampled) {
  EXPECT_EQ(unbiased(3, 30, 1).bytes, 30);
  EXPECT_EQ(unbiased(3, 30, 1).variance, 0);
  EXPECT_EQ(unbiased(0, 0, 1000).count, 0);
  // A block of one interval is sampled with p = 1 - 1/e.
  EXPECT_NEAR(unbiased(1, 1000, 1000).bytes, 1000 / (1 - std::exp(-1)), 1e-9);
}

}  // namespace
}  // namespace memduel
