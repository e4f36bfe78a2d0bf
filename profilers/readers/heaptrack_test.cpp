#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats.h"
#include "test_golden_files.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_golden;

// testdata/heap_shapes.cpp: 10 blocks of 1000 bytes, 16 of 64 KiB and 16 pointers to them, after
// libstdc++'s pool.
constexpr double kShapesPeak = 72704 + 10 * 1000 + 16 * 65536 + 16 * 8;

TEST(Heaptrack, InterpretedTraceHasWhatHeaptrackPrintSays) {
  const Profile profile = read_golden("heaptrack.gz");
  EXPECT_EQ(profile.peak.total.bytes, kShapesPeak);  // 1.13M, and to the byte in heaptrack.folded
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count, 532);
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, 10000);  // 10.00K
  EXPECT_EQ(total_of(profile, ProfileKind::live).count, 10);
  // heaptrack_print says 502: totals_test.cpp has why.
  EXPECT_EQ(total_of(profile, ProfileKind::temporary).count, 501);
  EXPECT_THAT(largest_stack(profile, ProfileKind::peak),
              ElementsAre("_start", "__libc_start_main_impl", "__libc_start_call_main", "main",
                          "hold_all()", "allocate(unsigned long)"));
  EXPECT_EQ(profile.info.at("profiler"), "heaptrack 1.4.0");
  EXPECT_EQ(profile.info.at("command"), "./shapes");
}

TEST(Heaptrack, RawTraceHasWhatHeaptrackInterpretCounts) {
  const Profile profile = read_golden("heaptrack.raw.zst");
  EXPECT_EQ(profile.peak.total.bytes, kShapesPeak);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count, 532);
  EXPECT_EQ(total_of(profile, ProfileKind::live).count, 10);
  EXPECT_EQ(total_of(profile, ProfileKind::temporary).count, 500);
  EXPECT_EQ(total_of(profile, ProfileKind::temporary).bytes, 500 * 32);
}

constexpr const char* kStart = "v 10400 3\n";

TEST(Heaptrack, PeakIsComposedOfWhatWasLiveThen) {
  // Two stacks; the first falls before the second makes the peak, and rises again after it.
  const Profile profile = read_text(std::string(kStart) +
                                    "s 1 a\ns 1 b\ns 1 m\ni 1 3 1\ni 2 3 2\nt 1 0\nt 2 0\n"
                                    "a 64 1\na c8 2\n+ 0\n+ 0\n- 0\n+ 1\n- 1\n+ 0\n");
  EXPECT_EQ(profile.peak.total.bytes, 300);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "a"), 100);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "b"), 200);
  EXPECT_EQ(bytes_below(profile, ProfileKind::live, "a"), 200);
  EXPECT_EQ(total_of(profile, ProfileKind::temporary).bytes, 100 + 200);
}

TEST(Heaptrack, UnnamedFramesOfOneModuleAreOne) {
  // Three places of one stripped library, one below the other, and two stacks that differ there.
  const Profile profile = read_text(std::string(kStart) +
                                    "s 9 /lib/x.so\ns 4 main\ni 1 1 2\ni 2 1\ni 3 1\ni 4 1\nt 1 0\n"
                                    "t 2 1\nt 3 2\nt 4 1\na 8 3\na 10 4\n+ 0\n+ 1\n");
  EXPECT_THAT(largest_stack(profile, ProfileKind::live), ElementsAre("main", "[x.so]"));
  EXPECT_EQ(stacks_of(profile, sites_of(profile, ProfileKind::live)).size(), 1U);
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, 24);
}

TEST(Heaptrack, RawTraceForgetsFreesOfBlocksFromBefore) {
  const Profile profile =
      read_text(std::string(kStart) + "x 4 /bin\nt 10 0\n- 7000\n+ 10 1 7000\n- 7000\n- 7000\n");
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count, 1);
  EXPECT_EQ(total_of(profile, ProfileKind::live).count, 0);
}

TEST(Heaptrack, NotesATraceWithoutItsEnd) {
  const std::string raw = std::string(kStart) + "x 4 /bin\nt 10 0\n+ 10 1 7000\n";
  EXPECT_THAT(read_text(raw).notes, ElementsAre(HasSubstr("the program was killed")));
  EXPECT_THAT(read_text(raw + "c 1\nR 5\n").notes, IsEmpty());
  EXPECT_THAT(read_text(raw + "c 1\n").notes, IsEmpty());  // /proc could not be read
  EXPECT_THAT(read_text(raw + "c 1\nR 5\nc 2\n").notes, ElementsAre(HasSubstr("cut off")));
  const std::string interpreted = std::string(kStart) + "s 1 a\ni 1 1\nt 1 0\na 8 1\n+ 0\n";
  const std::string counts = "\n# strings: 1\n# ips: 1\n";
  EXPECT_THAT(read_text(interpreted + "c 1\nR 5\n").notes,
              ElementsAre(HasSubstr("without the counts that heaptrack_interpret writes last")));
  EXPECT_THAT(read_text(interpreted + counts).notes,
              ElementsAre(HasSubstr("the program was killed")));
  EXPECT_THAT(read_text(interpreted + "c 1\nR 5\n" + counts).notes, IsEmpty());
}

TEST(Heaptrack, SaysWhereATraceMakesNoSense) {
  EXPECT_EQ(problem_of(std::string(kStart) + "t 1 0\n"),
            "text: byte 15: line 2: an instruction that was never given");
  EXPECT_EQ(problem_of(std::string(kStart) + "x 4 /bin\nt 10 5\n"),
            "text: byte 25: line 3: a stack under one that was never given");
  EXPECT_EQ(problem_of(std::string(kStart) + "? 1\n"),
            "text: byte 10: line 2: no line of a heaptrack trace begins like that");
  EXPECT_THAT(problem_of("v 10400 4\n"), HasSubstr("byte 9: line 1: written by a newer heaptrack"));
  EXPECT_THAT(problem_of(kStart), HasSubstr("byte 10: the file ends before its first allocation"));
}

}  // namespace
}  // namespace memduel
