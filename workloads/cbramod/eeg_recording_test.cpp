#include "eeg_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "util/error.h"

namespace memduel {
namespace {

/// 100 s of one channel at 10 Hz.
EegRecording night_with(std::vector<EegAnnotation> annotations) {
  return {{"Cz"}, 10, 1000, std::vector<float>(1000), std::move(annotations)};
}

std::vector<std::size_t> begins(const std::vector<StagedEpoch>& epochs) {
  std::vector<std::size_t> first;
  for (const StagedEpoch& epoch : epochs) first.push_back(epoch.first_sample);
  return first;
}

TEST(StagedEpochs, AreTheWholeStretchesInsideAnAnnotation) {
  const auto epochs = staged_epochs(night_with({{5, 65, "Sleep stage N2"}}), 30, "n.edf");
  EXPECT_THAT(begins(epochs), ::testing::ElementsAre(50, 350));
  EXPECT_EQ(epochs[0].stage, 2U);
}

TEST(StagedEpochs, EndWithTheRecording) {
  const auto epochs = staged_epochs(night_with({{50, 900, "Sleep stage R"}}), 30, "n.edf");
  EXPECT_THAT(begins(epochs), ::testing::ElementsAre(500));
}

TEST(StagedEpochs, KnowBothManualsNamesAndPassOverOthers) {
  const char* names[] = {"W", "N1", "1", "N2", "2", "N3", "3", "4", "R"};
  const std::size_t stages[] = {0, 1, 1, 2, 2, 3, 3, 3, 4};
  for (std::size_t i = 0; i < 9; ++i) {
    const auto epochs =
        staged_epochs(night_with({{0, 30, "Sleep stage ?"},
                                  {0, 30, "Lights off"},
                                  {0, 10, "Sleep stage W"},
                                  {60, 30, std::string("Sleep stage ") + names[i]}}),
                      30, "n.edf");
    ASSERT_EQ(epochs.size(), 1U) << names[i];
    EXPECT_EQ(epochs[0].stage, stages[i]) << names[i];
  }
}

TEST(StagedEpochs, ARecordingWithoutAnyIsRefusedByName) {
  try {
    staged_epochs(night_with({{0, 0, "Recording starts"}}), 30, "night.edf");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_EQ(error.message(),
              "night.edf: expected an epoch of 30 s with \"Sleep stage W\", N1, N2, N3 or R, found "
              "none among 1 annotation");
  }
}

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
    EXPECT_EQ(
        error.message(),
        "night.edf: channel \"Pz\", sample 1: expected a sound signal, found clipped, 32768 or "
        "more (1 of 4 samples); 1 of 2 channels have such a fault");
  }
}

}  // namespace
}  // namespace memduel
