#include "workloads/federated/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

using ::testing::ElementsAre;

TEST(SharesOf, AreEqualOrBySampleSize) {
  EXPECT_THAT(shares_of("equal", {30, 0, 10, 0}), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(shares_of("sample_size", {30, 0, 10}), ElementsAre(0.75, 0, 0.25));
}

TEST(SharesOf, NoSamplesAtAllAreNoShares) {
  EXPECT_THROW(shares_of("sample_size", {0, 0}), Error);
}

}  // namespace
}  // namespace memduel
