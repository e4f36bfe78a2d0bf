#include "workloads/eeg/sleep_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

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
              "night.edf: found 1 annotations and no epoch of 30 s among them, expected \"Sleep "
              "stage W\", N1, N2, N3 or R");
  }
}

}  // namespace
}  // namespace memduel
