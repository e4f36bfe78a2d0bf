#include "profilers/meters/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace memduel {
namespace {

TEST(MeterRegistry, HoldsEveryMeterAndProbe) {
  std::set<std::string> names;
  for (const MeterEntry& entry : meters()) names.insert(entry.name);
  EXPECT_EQ(names, (std::set<std::string>{"procfs", "heap", "allocator", "torch", "cuda", "nvml"}));
}

TEST(MeterRegistry, EveryRowIsComplete) {
  for (const MeterEntry& entry : meters()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_FALSE(entry.needs.empty()) << entry.name;
    EXPECT_FALSE(entry.metrics.empty()) << entry.name;
    EXPECT_EQ(entry.make != nullptr, entry.kind == MeterKind::outside) << entry.name;
    const Availability here = entry.works_here();
    EXPECT_EQ(here.works, here.why.empty()) << entry.name;
  }
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
