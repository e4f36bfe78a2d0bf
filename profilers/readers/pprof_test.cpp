#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "formats.h"
#include "profile/outputs.h"
#include "test_golden_files.h"
#include "wire_message.h"

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
  profile.sites[1].heap = Heap::mapped;
  profile.peak = {0, 0, 0, 0, {250, 2, 0, 2}, {{0, {250, 2, 0, 2}}}};
  profile.mapping_peak = {0, 0, 0, 0, {4096, 1, 0, 1}, {{1, {4096, 1, 0, 1}}}};
  return profile;
}

TEST(Pprof, ReadsWhatMemduelExports) {
  const Profile before = small_profile();
  const Profile after = read_text(export_pprof(before));
  for (const Heap heap : {Heap::malloc, Heap::mapped}) {
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

/// What an exported profile says by the field numbers of profile.proto.
struct Written {
  std::vector<std::string> strings;
  std::vector<std::uint64_t> mapping_ids;
  std::vector<std::string> mapping_files;
  std::map<std::string, std::string> system_names;   ///< of functions, by name
  std::vector<std::uint64_t> mappings_of_locations;  ///< their IDs; 0: none
};

std::uint64_t number_in(WireMessage message, unsigned field) {
  while (const auto found = message.next())
    if (found->number == field) return found->value;
  return 0;
}

Written written(const Profile& profile) {
  const std::string packed = export_pprof(profile);
  PlainSource source(packed, "export");
  const std::string document = source.rest();
  Written all;
  WireMessage strings(source, document, document);
  while (const auto field = strings.next())
    if (field->number == PprofProfile::string_table) all.strings.emplace_back(field->bytes);
  WireMessage whole(source, document, document);
  while (const auto field = whole.next()) {
    if (field->is_number) continue;
    const WireMessage inner = whole.inside(*field);
    if (field->number == PprofProfile::mapping) {
      all.mapping_ids.push_back(number_in(inner, PprofMapping::id));
      all.mapping_files.push_back(all.strings[number_in(inner, PprofMapping::filename)]);
    } else if (field->number == PprofProfile::location) {
      all.mappings_of_locations.push_back(number_in(inner, PprofLocation::mapping_id));
    } else if (field->number == PprofProfile::function) {
      all.system_names[all.strings[number_in(inner, PprofFunction::name)]] =
          all.strings[number_in(inner, PprofFunction::system_name)];
    }
  }
  return all;
}

// pprof takes the first mapping for the main binary. The dynamic loader is met before it where a
// library allocates in its constructor.
TEST(Pprof, TheProgramIsTheFirstMapping) {
  Profile profile = small_profile();
  profile.modules = {{"/lib/ld.so", "", 0x1000, 0x2000, 0},
                     {"/lib/libc.so", "", 0x3000, 0x4000, 0},
                     {"/bin/a", "", 0x5000, 0x6000, 0}};
  for (std::size_t module = 0; module < 3; ++module)
    profile.locations.push_back({ProfileLocation::Kind::native, module, 1, {{"f", "", 0}}});
  using testing::ElementsAre;
  const Written inside = written(profile);
  EXPECT_THAT(inside.mapping_files, ElementsAre("/bin/a", "/lib/ld.so", "/lib/libc.so"));
  EXPECT_THAT(inside.mapping_ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(inside.mappings_of_locations, ElementsAre(0, 2, 3, 1));
  // No frame lies in it.
  profile.info["program"] = "/bin/other";
  const Written outside = written(profile);
  EXPECT_THAT(outside.mapping_files,
              ElementsAre("/bin/other", "/lib/ld.so", "/lib/libc.so", "/bin/a"));
  EXPECT_THAT(outside.mappings_of_locations, ElementsAre(0, 2, 3, 4));
  profile.info.erase("program");
  EXPECT_THAT(written(profile).mapping_files, ElementsAre("/lib/ld.so", "/lib/libc.so", "/bin/a"));
}

// pprof removes what is in angle brackets and parentheses from a name that is its own system name.
TEST(Pprof, NamesThatItWouldEmptyHaveNoSystemName) {
  Profile profile = small_profile();
  for (const char* name : {"<module>", "(anonymous namespace)::f(int)", "a::g<int>(int)",
                           "h<(anonymous namespace)::S>()"})
    profile.locations.push_back({ProfileLocation::Kind::native, std::nullopt, 1, {{name, "", 0}}});
  const Written all = written(profile);
  EXPECT_EQ(all.system_names.at("<module>"), "");
  EXPECT_EQ(all.system_names.at("(anonymous namespace)::f(int)"), "");
  for (const char* name : {"a::g<int>(int)", "h<(anonymous namespace)::S>()"})
    EXPECT_EQ(all.system_names.at(name), name);
}

}  // namespace
}  // namespace memduel
