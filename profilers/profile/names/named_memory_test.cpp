#include "profilers/profile/names/named_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profilers/profile/names/own_code.h"
#include "profilers/profile/names/short_name.h"

namespace memduel {
namespace {

using testing::ElementsAre;

constexpr double kMiB = 1 << 20;

ProfileLocation native(std::size_t module, std::uint64_t address,
                       const std::string& function = {}) {
  ProfileLocation location{ProfileLocation::Kind::native, module, address, {}};
  if (!function.empty()) location.names.push_back({function, {}, 0});
  return location;
}

AllocationSite mapping(std::uint32_t stack, double bytes, double count) {
  AllocationSite site;
  site.stack = stack;
  site.heap = Heap::mapping;
  site.allocated = {bytes, count, 0, 1};
  return site;
}

/// A Python without symbols: load() needs two arenas by one way and one by another, and maps three
/// MiB itself.
Profile python_profile() {
  Profile profile;
  profile.modules = {{"/usr/bin/python3.11", "", 0, 0, 0}, {"/usr/lib/mmap.so", "", 0, 0, 0}};
  profile.locations = {native(0, 1, "_start"),
                       {ProfileLocation::Kind::python, std::nullopt, 0, {{"load", "/job.py", 3}}},
                       native(0, 0x50),
                       native(0, 0x51),
                       native(0, 0x40),
                       native(0, 0x30),
                       native(1, 0x20)};
  // _start, load, then 0x50 or 0x51, 0x40, 0x30; or mmap.so.
  profile.stacks = {{}, {0, 0}, {1, 1}, {2, 2}, {3, 4}, {4, 5}, {2, 3}, {6, 4}, {7, 5}, {2, 6}};
  profile.sites = {mapping(5, 2 * kMiB, 2), mapping(8, kMiB, 1), mapping(9, 3 * kMiB, 1)};
  return profile;
}

std::vector<std::string> names_of(const Profile& profile, std::uint32_t stack) {
  std::vector<std::string> names;
  for (const FrameName& frame : frames_of(profile, stack)) names.push_back(frame.function);
  return names;
}

TEST(NamedMemory, StandsOutsideOfTheRuntimesFramesAndInsideOfThePythonFunction) {
  Profile profile = python_profile();
  name_runtime_memory(profile);
  const std::uint32_t stack = profile.sites[0].stack;
  EXPECT_THAT(names_of(profile, stack),
              ElementsAre("_start", "load", "CPython arenas", "python3.11+0x50", "python3.11+0x40",
                          "python3.11+0x30"));
  const auto frames = told_frames(profile, stack);
  const std::size_t lead = leading_frame(profile, stack);
  EXPECT_EQ(short_name(frames[lead].name.function), "CPython arenas");
  EXPECT_EQ(frames[lead + 1].name.function, "load");
  EXPECT_THAT(names_of(profile, profile.sites[2].stack),
              ElementsAre("_start", "load", "mmap.so+0x20"))
      << "the program's own mapping keeps its function";
}

TEST(NamedMemory, IsOneStackWhicheverFunctionOfTheRuntimeNeededIt) {
  Profile profile = python_profile();
  name_runtime_memory(profile);
  const std::uint32_t one = without_runtime(profile, profile.sites[0].stack);
  EXPECT_EQ(without_runtime(profile, profile.sites[1].stack), one);
  EXPECT_EQ(without_runtime(profile, profile.sites[2].stack), profile.sites[2].stack);
  const auto stacks = without_runtimes(profile, {{profile.sites[2].stack, {3 * kMiB + 1, 1, 0, 1}},
                                                 {profile.sites[0].stack, {2 * kMiB, 2, 0, 1}},
                                                 {profile.sites[1].stack, {2 * kMiB, 2, 0, 1}}});
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].first, one);
  EXPECT_EQ(stacks[0].second.bytes, 4 * kMiB);
  EXPECT_EQ(stacks[0].second.count, 4);
}

TEST(NamedMemory, NeedsTheSizeOfAnArenaOfAllThatAPlaceMaps) {
  Profile profile = python_profile();
  profile.sites.push_back(mapping(5, 16 << 10, 1));  // by the same functions
  name_runtime_memory(profile);
  EXPECT_THAT(names_of(profile, profile.sites[0].stack),
              testing::Not(testing::Contains("CPython arenas")));
}

TEST(NamedMemory, LeavesBlocksOfTheSameStack) {
  Profile profile = python_profile();
  AllocationSite block = mapping(5, 10, 1);
  block.heap = Heap::malloc;
  profile.sites.push_back(block);
  name_runtime_memory(profile);
  EXPECT_EQ(profile.sites[3].stack, 5U);
  EXPECT_NE(profile.sites[0].stack, 5U);
}

TEST(NamedMemory, NamesPagesOfASnapshotToo) {
  Profile profile = python_profile();
  const auto owner = [](const std::string& name) {
    return ProfileLocation{ProfileLocation::Kind::owner, std::nullopt, 0, {{name, {}, 0}}};
  };
  for (const char* name : {"mapping", "unexplained", "anonymous"})
    profile.locations.push_back(owner(name));  // 7 to 9
  // mapping, load, 0x50, 0x40, 0x30; unexplained, anonymous.
  for (const StackNode& node :
       {StackNode{0, 7}, {10, 1}, {11, 2}, {12, 4}, {13, 5}, {0, 8}, {15, 9}})
    profile.stacks.push_back(node);
  for (const std::uint32_t stack : {14U, 16U}) {
    AllocationSite site;
    site.stack = stack;
    profile.sites.push_back(site);
  }
  profile.resident.emplace();
  profile.resident->sites = {{3, {kMiB, 1, 0, 1}}, {4, {8192, 0, 0, 1}}};
  profile.resident->parts = {{PageOwner::unexplained, "anonymous", {}, 8192}};
  name_runtime_memory(profile);
  EXPECT_THAT(names_of(profile, without_runtime(profile, profile.sites[3].stack)),
              ElementsAre("mapping", "load", "CPython arenas"));
  EXPECT_THAT(names_of(profile, profile.sites[4].stack),
              ElementsAre("unexplained", "other anonymous memory"));
  EXPECT_EQ(profile.resident->parts[0].name, "other anonymous memory");
}

}  // namespace
}  // namespace memduel
