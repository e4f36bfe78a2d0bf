#include "profilers/meters/capabilities.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace memduel
