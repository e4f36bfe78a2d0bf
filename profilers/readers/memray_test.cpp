// memray's JSON. memray 1.20.0 made the golden files, all from one recording with
// native frames of testdata/heap_shapes.py (testdata/make_memray.sh); totals_test.cpp holds the
// readers to all that memray itself prints of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "test_golden_files.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_golden;

constexpr double kMemrayPeak = 1'519'382;  // "peak_memory" of memray stats --json

TEST(Memray, ACaptureHasThePeakAndWhatWasLiveByStackWithLines) {
  const Profile profile = read_golden("memray-capture.json");
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "leak"), 10 * 1033);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "hold_all"), 16 * 65537);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "descend"), 6 * 20033);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "come_and_go"), 0);
  EXPECT_EQ(bytes_below(profile, ProfileKind::live, "leak"), 10 * 1033);
  EXPECT_EQ(bytes_below(profile, ProfileKind::live, "hold_all"), 0);
  EXPECT_THAT(largest_stack(profile, ProfileKind::peak),
              ElementsAre("<module>", "main", "hold_all", "<listcomp>"));
  EXPECT_EQ(stacks_of(profile, profile.peak.sites).front().second.count, 16);
  EXPECT_EQ(profile.fact("command"), "heap_shapes.py");
  EXPECT_EQ(profile.fact("profiler"), "memray 1.20.0");
}

TEST(Memray, AllocationsOutsideOfPythonHaveAFrameOfTheirOwn) {
  const Profile profile =
      read_text(R"({"memray":"1.20.0","command":"-c","peak":[[[0],7,1],[[],5,2]],"live":[],)"
                R"("functions":[["f","a.py",3]]})");
  EXPECT_EQ(profile.peak.total.bytes, 12);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "[no Python frame]"), 5);
  EXPECT_EQ(frames_of(profile, stacks_of(profile, profile.peak.sites).front().first)[0].line, 3);
}

TEST(Memray, Gprof2dotHasThePeakByStackWithNativeFrames) {
  const Profile profile = read_golden("memray-gprof2dot.json");
  EXPECT_EQ(profile.peak.total.bytes, kMemrayPeak);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "leak"), 10 * 1033);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "hold_all"), 16 * 65537);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "descend"), 6 * 20033);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "come_and_go"), 0);
  const auto frames = largest_stack(profile, ProfileKind::peak);
  EXPECT_THAT(std::vector(frames.end() - 8, frames.end()),
              ElementsAre("<module>", "main", "hold_all", "<listcomp>", "_PyObject_MakeTpCall",
                          "[unknown]", "PyByteArray_Resize", "[unknown]"));
  EXPECT_FALSE(profile.counted);
}

TEST(Memray, FramesArePythonsOrNative) {
  std::map<std::string, ProfileLocation::Kind> kinds;
  for (const ProfileLocation& location : read_golden("memray-gprof2dot.json").locations)
    if (!location.names.empty()) kinds[location.names[0].function] = location.kind;
  EXPECT_EQ(kinds.at("descend"), ProfileLocation::Kind::python);
  EXPECT_EQ(kinds.at("run_path"), ProfileLocation::Kind::python) << "<frozen runpy>";
  EXPECT_EQ(kinds.at("deflateInit2_"), ProfileLocation::Kind::native);
  EXPECT_EQ(kinds.at("[unknown]"), ProfileLocation::Kind::native);
}

TEST(Memray, StatsHaveTheLargestPlacesAndTheRest) {
  const Profile profile = read_golden("memray-stats.json");
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 3'851'778);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "come_and_go"), 500 * 4129);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "descend"), 6 * 20033);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "[other places]"), 233'050);
  EXPECT_EQ(profile.info.at("peak_bytes"), "1519382");
}

TEST(JsonProfiles, SayWhereTheyMakeNoSense) {
  const std::string text = read_file(golden_file("memray-gprof2dot.json"));
  EXPECT_EQ(problem_of(text.substr(0, text.size() / 2)),
            "text: byte " + std::to_string(text.size() / 2) + ": the file ends inside its JSON");
  EXPECT_EQ(problem_of(R"({"costs":[],"events":[?]})"), "text: byte 22: not JSON");
  EXPECT_THAT(problem_of(R"({"costs":[],"events":[{"callchain":[1],"cost":[1]}],"functions":[]})"),
              HasSubstr("byte 0: 1 where a number below 0 should be"));
  EXPECT_THAT(problem_of(R"({"memray":"1.20.0","command":"-c","peak":[[[1],7,1]],"live":[],)"
                         R"("functions":[["f","a.py",3]]})"),
              HasSubstr("byte 0: 1 where a number below 1 should be"));
  EXPECT_THAT(problem_of(R"({"memray":"1.20.0"})"), HasSubstr("byte 0: not a profile:"));
  EXPECT_THAT(problem_of(R"({"costs":[],"events":7})"), HasSubstr("byte 0: not a profile:"));
}

}  // namespace
}  // namespace memduel
