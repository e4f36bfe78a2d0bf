#include "profilers/readers/pprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profilers/profile/questions/export_profile.h"
#include "profilers/readers/testing/golden.h"

namespace memduel {
namespace {

using testing::Contains;
using testing::HasSubstr;
using namespace testing_golden;

TEST(Pprof, HeapOfGoHasWhatGoToolPprofSays) {
  const Profile profile = read_golden("go_heap.pb.gz");
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, 120601);
  EXPECT_EQ(total_of(profile, ProfileKind::live).count, 213);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 8991955);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count, 325);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "main.comeAndGo"), 6542355);
  EXPECT_EQ(bytes_below(profile, ProfileKind::live, "runtime.main"), 83190);
  EXPECT_EQ(profile.unit, ProfileUnit::bytes);
  EXPECT_TRUE(profile.sampled());
}

TEST(Pprof, CpuOfGoHasWhatGoToolPprofSays) {
  const Profile profile = read_golden("go_cpu.pb.gz");
  EXPECT_EQ(profile.unit, ProfileUnit::nanoseconds);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, 70e6);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count, 7);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "runtime.asyncPreempt"), 10e6);
  EXPECT_EQ(bytes_below(profile, ProfileKind::allocated, "main.spin"), 70e6);
  // 7 samples of 10 ms.
  EXPECT_NEAR(total_of(profile, ProfileKind::allocated).variance, 7 * 10e6 * 10e6, 1);
}

/// One site of every kind, born in round 3, phase upload.
Profile small_profile() {
  Profile profile;
  profile.info = {{"mode", "exact"}, {"program", "/bin/a"}};
  profile.notes = {"Something was lost"};
  profile.phases = {"", "upload"};
  profile.locations = {
      {ProfileLocation::Kind::native, std::nullopt, 1, {{"inner", "i.h", 3}, {"main", "m.c", 7}}}};
  profile.stacks = {{}, {0, 0}};
  AllocationSite site;
  site.stack = 1;
  site.round = 3;
  site.phase = 1;
  site.allocated = {300, 3, 0, 3};
  site.live = {200, 2, 0, 2};
  site.temporary = {50, 1, 0, 1};
  profile.sites = {site, site};
  profile.sites[1].heap = Heap::mapping;
  profile.peak = {0, 0, 0, 0, {250, 2, 0, 2}, {{0, {250, 2, 0, 2}}}};
  profile.mapping_peak = {0, 0, 0, 0, {4096, 1, 0, 1}, {{1, {4096, 1, 0, 1}}}};
  return profile;
}

TEST(Pprof, ReadsWhatMemduelExports) {
  const Profile before = small_profile();
  const Profile after = read_text(export_pprof(before));
  for (const Heap heap : {Heap::malloc, Heap::mapping}) {
    for (const ProfileKind kind :
         {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated, ProfileKind::temporary}) {
      const LiveSites sites = sites_of(after, kind, heap);
      ASSERT_EQ(sites.size(), 1U) << to_string(kind);
      EXPECT_EQ(sites[0].second.bytes, sites_of(before, kind, heap)[0].second.bytes);
      EXPECT_EQ(sites[0].second.count, sites_of(before, kind, heap)[0].second.count);
      const AllocationSite& site = after.sites[sites[0].first];
      EXPECT_EQ(site.round, 3);
      EXPECT_EQ(after.phases[site.phase], "upload");
      const auto frames = frames_of(after, site.stack);
      ASSERT_EQ(frames.size(), 2U);
      EXPECT_EQ(frames[0].function, "main");
      EXPECT_EQ(frames[0].file, "m.c");
      EXPECT_EQ(frames[0].line, 7);
      EXPECT_EQ(frames[1].function, "inner");
    }
  }
  EXPECT_EQ(after.info.at("program"), "/bin/a");
  EXPECT_THAT(after.notes, Contains("Something was lost"));
}

TEST(Pprof, ReadsTheTimeThatMemduelExports) {
  Profile before = small_profile();
  before.unit = ProfileUnit::nanoseconds;
  const Profile after = read_text(export_pprof(before));
  EXPECT_EQ(after.unit, ProfileUnit::nanoseconds);
  EXPECT_EQ(total_of(after, ProfileKind::allocated).bytes, 600);
  EXPECT_EQ(total_of(after, ProfileKind::allocated).count, 6);
}

TEST(Pprof, SaysWhereAMessageMakesNoSense) {
  const std::string type("\x0a\x04\x08\x01\x10\x02", 6);
  EXPECT_EQ(problem_of(type + "\x12\x05\x0a"), "text: byte 8: ends inside a field");
  EXPECT_EQ(problem_of(type + "\x32"), "text: byte 7: ends inside a number");
  EXPECT_EQ(problem_of(type + std::string("\x32\x00", 2)),
            "text: byte 4: refers to a string that is not there");
  EXPECT_EQ(problem_of(type + "\x07"), "text: byte 7: no field of a message");
  const std::string whole = export_pprof(small_profile());
  EXPECT_THAT(problem_of(whole.substr(0, whole.size() / 2)), HasSubstr("gzip data end early"));
}

}  // namespace
}  // namespace memduel
