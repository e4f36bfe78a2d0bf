#include "workloads/eeg/integrity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace memduel {
namespace {

/// Two channels of four samples; the second sample of the second channel is `value`.
EegRecording with(float value) {
  return {{"Cz", "Pz"}, 200, 4, {1, 2, 3, 4, 5, value, 7, 8}};
}

EegFault only_fault(float value) {
  const auto found = scan(with(value));
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at(0).channel, 1U);
  EXPECT_EQ(found.at(0).first_sample, 1U);
  EXPECT_EQ(found.at(0).count, 1U);
  return found.at(0).fault;
}

TEST(EegIntegrity, EveryFaultIsNamedFromItsBoundOn) {
  EXPECT_TRUE(scan(with(6)).empty());
  EXPECT_TRUE(scan(with(-32767.9F)).empty());
  EXPECT_EQ(only_fault(32768), EegFault::clipped);
  EXPECT_EQ(only_fault(-32768), EegFault::clipped);
  EXPECT_EQ(only_fault(1e6F), EegFault::clipped);
  EXPECT_EQ(only_fault(-1000000.1F), EegFault::extreme);
  EXPECT_EQ(only_fault(std::numeric_limits<float>::infinity()), EegFault::not_finite);
  EXPECT_EQ(only_fault(std::numeric_limits<float>::quiet_NaN()), EegFault::not_finite);
}

TEST(EegIntegrity, AChannelWithoutVarianceIsConstant) {
  const auto found = scan({{"Cz", "Pz"}, 200, 3, {7, 7, 7, 7, 7, 8}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].channel, 0U);
  EXPECT_EQ(found[0].fault, EegFault::constant);
}

TEST(EegIntegrity, TheWorstFaultOfAChannelCounts) {
  const auto found =
      scan({{"Cz"}, 200, 4, {40000, std::numeric_limits<float>::quiet_NaN(), 2e6F, 40000}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].fault, EegFault::not_finite);
  EXPECT_EQ(found[0].first_sample, 1U);
  EXPECT_EQ(found[0].count, 1U);
}

TEST(EegIntegrity, ARefusalNamesFileChannelSampleAndFault) {
  EXPECT_NO_THROW(expect_sound(with(6), "night.edf"));
  try {
    expect_sound(with(40000), "night.edf");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_EQ(error.message(),
              "night.edf: channel \"Pz\", sample 1: found clipped, 32768 or more (1 of 4 samples), "
              "expected a sound signal; 1 of 2 channels have such a fault");
  }
}

}  // namespace
}  // namespace memduel
