// One program, testdata/heap_shapes.cpp, under five tools: do their files agree as they must?
//
// Allocated: libstdc++'s pool of 72704 bytes before main, 10 blocks of 1000 bytes that stay, 16 of
// 64 KiB at once, 500 of 32 one after the other, and a vector that grew to 16 pointers, 8 + 16 + …
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profilers/profile/agreement/tracer_agreement.h"
#include "profilers/profile/model/tracer_facts.h"
#include "profilers/readers/registry.h"
#include "profilers/readers/testing/golden.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using namespace testing_golden;

constexpr double kPool = 72704;
constexpr double kKept = 10 * 1000;
constexpr double kHeld = 16 * 65536;
constexpr double kPeak = kPool + kKept + kHeld + 16 * 8;
constexpr double kAllocated = kPool + kKept + kHeld + 500 * 32 + (8 + 16 + 32 + 64 + 128);

TracerAgreement of_shapes(const std::string& tracer, const std::string& file) {
  auto agreement = tracer_agreement(
      {{"recorder", {{read_profile(golden_file("shapes.mdp"))}}}, {tracer, {{read_golden(file)}}}});
  EXPECT_TRUE(agreement);
  return *agreement;
}

const AgreementAmount& amount(const TracerView& view, const std::string& kind) {
  for (const AgreementAmount& one : view.amounts)
    if (one.kind == kind) return one;
  throw std::out_of_range(kind);
}

TEST(AgreementOfShapes, TheRecorderHasWhatTheProgramAllocates) {
  const TracerAgreement agreement = of_shapes("heaptrack", "heaptrack.gz");
  const TracerView& recorder = agreement.tracers[0];
  EXPECT_EQ(amount(recorder, "peak").bytes, kPeak);
  EXPECT_EQ(amount(recorder, "allocated").bytes, kAllocated);
  EXPECT_EQ(amount(recorder, "live").bytes, kPool + kKept);
}

TEST(AgreementOfShapes, HeaptrackIsTheSameButForThePoolThatItHasFreed) {
  for (const char* file : {"heaptrack.gz", "heaptrack.raw.zst"}) {
    const TracerView view = of_shapes("heaptrack", file).tracers[1];
    EXPECT_EQ(amount(view, "peak").difference_bytes, 0) << file;
    EXPECT_EQ(amount(view, "allocated").difference_bytes, 0);
    EXPECT_EQ(amount(view, "live").difference_bytes, -kPool);
    EXPECT_THAT(view.besides, HasSubstr("has libc and libstdc++ free their pools at exit"));
  }
}

TEST(AgreementOfShapes, HeaptracksInterpretedStacksAreTheRecorders) {
  const TracerView view = of_shapes("heaptrack", "heaptrack.gz").tracers[1];
  ASSERT_TRUE(view.stacks);
  EXPECT_EQ(view.stacks->kind, "peak");
  EXPECT_EQ(view.stacks->of, 4);
  EXPECT_EQ(view.stacks->found, 4);
  EXPECT_EQ(view.stacks->same, 4);
}

TEST(AgreementOfShapes, MassifHasThePeakAndPutsSmallStacksTogether) {
  const TracerAgreement agreement = of_shapes("massif", "massif.out");
  const TracerView& view = agreement.tracers[1];
  EXPECT_EQ(amount(view, "peak").difference_bytes, 0);
  EXPECT_FALSE(amount(view, "allocated").bytes);
  EXPECT_EQ(amount(view, "live").bytes, kKept);
  ASSERT_TRUE(view.stacks);
  EXPECT_EQ(view.stacks->found, 2);  // of 64 KiB and the pool; the others are 0.9 % and 0.01 %
  EXPECT_EQ(view.stacks->same, 2);
  EXPECT_THAT(view.besides, HasSubstr("puts stacks below 1 % of all bytes together"));
}

TEST(AgreementOfShapes, GperftoolsBeginsAfterThePool) {
  const TracerView view = of_shapes("gperftools", "gperftools.heap").tracers[1];
  EXPECT_FALSE(amount(view, "peak").bytes);
  EXPECT_EQ(amount(view, "allocated").difference_bytes, -kPool);
  EXPECT_EQ(amount(view, "live").difference_bytes, -kPool);
  EXPECT_THAT(view.besides, HasSubstr("starts after the libraries were loaded"));
}

TEST(AgreementOfShapes, JemallocIsWithinItsSamplesAndSizeClasses) {
  const TracerView view = of_shapes("jemalloc", "jemalloc.heap").tracers[1];
  EXPECT_EQ(view.counts, "bytes of size classes, one sample per 16.0 KiB");
  EXPECT_NEAR(*amount(view, "allocated").difference_bytes, 1218065 - kAllocated, 1);  // jeprof's
  EXPECT_NEAR(*amount(view, "live").difference_bytes, 99395 - kPool - kKept, 1);
}

TEST(AgreementOfShapes, ACutDumpSaysWhatItLost) {
  // Its first line less what google-pprof finds (totals.txt). Whose stacks these were depends on
  // the names that a machine has.
  EXPECT_EQ(facts_of(read_golden("gperftools-cut.heap.gz")).cut_off_live, 246112 - 160672);
}

}  // namespace
}  // namespace memduel
