// The verbs that look at profiles, on files of other tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "tests/integration/memduel_program.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string golden(const std::string& name) {
  return std::string(MEMDUEL_READERS_TESTDATA) + "/" + name;
}

TEST(ForeignProfiles, SummaryTellsWhatTheToolItselfSays) {
  const Workplace place;
  const Finished run = memduel(place, {"summary", golden("heaptrack.gz")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("tracer          heaptrack 1.4.0"));
  EXPECT_THAT(run.out, HasSubstr("live at peak  1.08 MiB"));
  EXPECT_THAT(run.out, HasSubstr("in 532 blocks"));
  EXPECT_THAT(run.out, HasSubstr("freed by the very next event"));
}

TEST(ForeignProfiles, SummaryOfTimeHasNoBytes) {
  const Workplace place;
  const Finished run = memduel(place, {"summary", golden("go_cpu.pb.gz")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("total         70.0 ms ± 51.9 ms in 7 samples"));
  EXPECT_EQ(run.out.find("MiB"), std::string::npos) << run.out;
}

TEST(ForeignProfiles, TwoFilesOfMemrayAreOnePage) {
  const Workplace place;
  const std::string page = place.path("change.html").string();
  const Finished run = memduel(place, {"flamegraph", golden("memray-gprof2dot.json"), "--diff",
                                       golden("memray.speedscope.json"), "-o", page});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(read_file(page), HasSubstr("memray.speedscope.json against memray-gprof2dot.json"));
}

TEST(ForeignProfiles, BytesAndTimeCannotBeCompared) {
  const Workplace place;
  const Finished run =
      memduel(place, {"flamegraph", golden("go_heap.pb.gz"), "--diff", golden("go_cpu.pb.gz"), "-o",
                      place.path("x.html").string()});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("go_heap.pb.gz has bytes and go_cpu.pb.gz has nanoseconds"));
}

TEST(ForeignProfiles, AreExportedLikeAnyOther) {
  const Workplace place;
  const Finished folded =
      memduel(place, {"export", golden("massif.out"), "--format", "folded", "--kind", "peak"});
  EXPECT_EQ(folded.status, 0) << folded.err;
  EXPECT_THAT(folded.out, HasSubstr("main;hold_all();allocate(unsigned long) 1048576\n"));
  const Finished none =
      memduel(place, {"export", golden("massif.out"), "--format", "folded", "--kind", "live"});
  EXPECT_EQ(none.status, 4);
  EXPECT_THAT(none.err, HasSubstr("the profile has no live allocations"));
}

TEST(ForeignProfiles, AWrongEmptyOrHalfFileIsOneLineAndExitFour) {
  const Workplace place;
  const std::string whole = read_file(golden("heaptrack.raw.zst"));
  const std::string files[] = {
      place.file("wrong.txt", "Dear reader\n"),
      place.file("empty.zst", ""),
      place.file("half.zst", whole.substr(0, whole.size() / 2)),
  };
  for (const std::string& file : files) {
    const Finished run = memduel(place, {"summary", file});
    EXPECT_EQ(run.status, 4) << file;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr(file), HasSubstr(": byte ")));
  }
}

}  // namespace
}  // namespace memduel
