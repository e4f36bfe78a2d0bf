// speedscope's and memray's JSON. memray's own writers (1.20.0, src/memray/reporters/transform.py
// and stats.py) made the golden files from records written by hand, for want of a package of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profilers/profile/export_profile.h"
#include "profilers/readers/testing/golden.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_golden;

TEST(Memray, Gprof2dotHasThePeakByStack) {
  const Profile profile = read_golden("memray-gprof2dot.json");
  EXPECT_EQ(profile.peak.total.bytes, 10000 + 1048576 + 2048 + 576);
  EXPECT_EQ(bytes_below(profile, ProfileKind::peak, "hold_all"), 1048576 + 2048);
  EXPECT_THAT(largest_stack(profile, ProfileKind::peak),
              ElementsAre("<module>", "main", "hold_all"));
  EXPECT_FALSE(profile.counted);
}

TEST(Memray, SpeedscopeHasTheSamePeakWithLinesAndBlocks) {
  const Profile profile = read_golden("memray.speedscope.json");
  EXPECT_EQ(profile.peak.total.bytes, 1061200);
  EXPECT_EQ(profile.peak.total.count, 30);
  EXPECT_TRUE(profile.counted);
  const auto stacks = stacks_of(profile, profile.peak.sites);
  const FrameName innermost = frames_of(profile, stacks[0].first).back();
  EXPECT_EQ(innermost.function, "hold_all");
  EXPECT_EQ(innermost.file, "shapes.py");
  EXPECT_EQ(innermost.line, 10);
  EXPECT_EQ(profile.info.at("command"), "python3 shapes.py");
}

TEST(Memray, StatsHaveTheLargestPlacesAndTheRest) {
  const Profile profile = read_golden("memray-stats.json");
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 1077776);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "come_and_go"), 16000);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "[other places]"),
            1077776 - 1048576 - 16000 - 10000);
  EXPECT_EQ(profile.info.at("peak_bytes"), "1061200");
}

TEST(Speedscope, ReadsWhatMemduelExports) {
  const Profile before = read_golden("massif.out");
  const Profile after = read_text(export_speedscope(before, ProfileKind::peak));
  EXPECT_EQ(total_of(after, ProfileKind::allocated).bytes, before.peak.total.bytes);
  EXPECT_EQ(largest_stack(after, ProfileKind::allocated), largest_stack(before, ProfileKind::peak));
}

TEST(Speedscope, KeepsTime) {
  const Profile profile = read_text(
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"f"}]},)"
      R"("profiles":[{"type":"sampled","unit":"milliseconds","samples":[[0],[0]],"weights":[2,3]}]})");
  EXPECT_EQ(profile.unit, ProfileUnit::nanoseconds);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 5e6);
}

TEST(JsonProfiles, SayWhereTheyMakeNoSense) {
  const std::string text = read_file(golden_file("memray-gprof2dot.json"));
  EXPECT_EQ(problem_of(text.substr(0, text.size() / 2)),
            "text: byte " + std::to_string(text.size() / 2) + ": the file ends inside its JSON");
  EXPECT_EQ(problem_of(R"({"costs":[],"events":[?]})"), "text: byte 22: not JSON");
  EXPECT_THAT(problem_of(R"({"costs":[],"events":[{"callchain":[1],"cost":[1]}],"functions":[]})"),
              HasSubstr("byte 0: 1 where a number below 0 should be"));
  EXPECT_THAT(problem_of(R"({"costs":[],"events":7})"), HasSubstr("byte 0: not a profile:"));
}

}  // namespace
}  // namespace memduel
