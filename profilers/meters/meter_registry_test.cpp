#include "meters/meter_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "memory/kernel_files.h"
#include "meters/cgroup.h"
#include "util/error.h"

namespace memduel {
namespace {

TEST(MeterCapabilities, ASayOfNoComesWithAdvice) {
  const auto capabilities = meter_capabilities();
  ASSERT_EQ(capabilities.size(), 3U);
  EXPECT_EQ(capabilities[0].name, "statm");
  EXPECT_EQ(capabilities[1].name, "smaps_rollup");
  EXPECT_EQ(capabilities[2].name, "peak_reset");
  for (const Capability& capability : capabilities) {
    EXPECT_FALSE(capability.detail.empty()) << capability.name;
    EXPECT_EQ(capability.ok, capability.advice.empty()) << capability.name;
  }
}

TEST(MeterCapabilities, OwnStatmCanBeReadOnLinux) {
  EXPECT_TRUE(meter_capabilities()[0].ok);
}

TEST(MeterRegistry, HoldsEveryMeterAndProbe) {
  std::set<std::string> names;
  for (const MeterEntry& entry : meters()) names.insert(entry.name);
  EXPECT_EQ(names, (std::set<std::string>{"procfs", "heap", "cgroup", "allocator", "torch", "cuda",
                                          "nvml"}));
}

TEST(MeterRegistry, EveryRowIsComplete) {
  for (const MeterEntry& entry : meters()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_FALSE(entry.needs.empty()) << entry.name;
    EXPECT_FALSE(entry.metrics.empty()) << entry.name;
    const bool made = entry.kind == MeterKind::outside && entry.name != "cgroup";
    EXPECT_EQ(entry.make != nullptr, made) << entry.name;
    const Availability here = entry.works_here();
    EXPECT_EQ(here.works, here.why.empty()) << entry.name;
  }
}

TEST(MeterRegistry, SaysWhichVersionOfControlGroupsWorksAndLeavesNone) {
  const Availability here = meter_named("cgroup").works_here();
  const TrialCgroup group = create_cgroup("memduel-registry-test-" + std::to_string(getpid()));
  const bool charges = charged_bytes_of(group.memory_dir).has_value();
  const bool first = std::filesystem::exists(group.memory_dir + "/memory.usage_in_bytes");
  remove_cgroup(group);
  ASSERT_EQ(here.works, charges);
  if (charges) {
    EXPECT_THAT(here.how,
                testing::HasSubstr(first ? "version 1, parts: anon" : "version 2, parts: anon"));
  }
  const std::string left = group.memory_dir.empty() ? group.kill_dir : group.memory_dir;
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(left).parent_path() /
                                       ("memduel-list-" + std::to_string(getpid()))));
}

TEST(MeterRegistry, AnUnknownNameSuggestsTheNearest) {
  try {
    meter_named("procf");
    ADD_FAILURE() << "there is no such meter";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(error.message().find("procfs"), std::string::npos);
  }
}

}  // namespace
}  // namespace memduel
