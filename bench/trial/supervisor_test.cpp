#include "trial/supervisor.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(SupervisionCapabilities, ASayOfNoComesWithAdvice) {
  const auto capabilities = supervision_capabilities();
  ASSERT_EQ(capabilities.size(), 4U);
  for (const Capability& capability : capabilities) {
    EXPECT_FALSE(capability.detail.empty()) << capability.name;
    EXPECT_EQ(capability.ok, capability.advice.empty()) << capability.name;
  }
  EXPECT_EQ(capabilities[1].name, "subreaper");
  EXPECT_TRUE(capabilities[1].ok);
}

}  // namespace
}  // namespace memduel
