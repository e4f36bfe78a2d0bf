// Epochs from a recording that EDFlib wrote.
#include "epoch_file.h"

#include <edflib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/worker_runs.h"
#include "synthetic_eeg.h"
#include "util/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kChannels = 2;
constexpr int kSeconds = 5;
constexpr int kEpochs = 10;

/// Ten synthetic epochs behind each other, with their stages as annotations, of a range of
/// ±`range` microvolts.
void write_night(const fs::path& path, double range) {
  const int file = edfopen_file_writeonly(path.c_str(), EDFLIB_FILETYPE_EDFPLUS, kChannels);
  ASSERT_GE(file, 0);
  for (int channel = 0; channel < kChannels; ++channel) {
    edf_set_samplefrequency(file, channel, 200);
    edf_set_physical_maximum(file, channel, range);
    edf_set_physical_minimum(file, channel, -range);
    edf_set_digital_maximum(file, channel, 32767);
    edf_set_digital_minimum(file, channel, -32768);
    edf_set_label(file, channel, channel == 0 ? "Cz" : "Pz");
  }
  const char* const names[] = {"W", "N1", "N2", "N3", "R"};
  for (int i = 0; i < kEpochs; ++i) {
    const auto stage = static_cast<std::size_t>(i) % kSleepStages;
    const EegRecording epoch =
        synthetic_epoch(stage, {kChannels, kSeconds * 200}, static_cast<std::uint64_t>(i));
    for (std::size_t second = 0; second < kSeconds; ++second)
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        const auto part = epoch.channel(channel).subspan(second * 200, 200);
        std::vector<double> values(part.begin(), part.end());
        edfwrite_physical_samples(file, values.data());
      }
    const std::string text = std::string("Sleep stage ") + names[stage];
    edfwrite_annotation_utf8(file, i * kSeconds * 10000LL, kSeconds * 10000LL, text.c_str());
  }
  edfclose_file(file);
}

class RecordedEpochs : public ::testing::Test {
 protected:
  RecordedEpochs() : study_(::testing::TempDir()) {}

  [[nodiscard]] WorkerConfig config(int train, int test) const {
    nlohmann::json dataset = {{"name", "edf"},          {"file", "night.edf"},
                              {"train_samples", train}, {"test_samples", test},
                              {"seconds", kSeconds},    {"channels", nullptr}};
    WorkerConfig config = study_.config("cbramod-original", {{"dataset", dataset}});
    config.data_dir = study_.path();
    return config;
  }

  [[nodiscard]] std::string refusal(int train, int test) const {
    const WorkerConfig chosen = config(train, test);
    try {
      const EpochFile file(study_.path() / "epochs.bin", chosen.workload, chosen.data_dir);
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::io);
      return error.message();
    }
  }

  [[nodiscard]] fs::path night() const { return study_.path() / "night.edf"; }

 private:
  PlayedStudy study_;
};

// A step of 16 bits over 2,000 microvolts is 0.03 microvolts.
TEST_F(RecordedEpochs, HaveTheRecordingsValuesAndStages) {
  write_night(night(), 1000);
  const WorkerConfig chosen = config(7, 3);
  const EpochFile file(night().parent_path() / "epochs.bin", chosen.workload, chosen.data_dir);
  std::set<int> found;
  for (const Samples& samples : {file.train(), file.validation()}) {
    const Batch all = samples.slice(0, samples.count());
    for (std::int64_t i = 0; i < samples.count(); ++i)
      for (int epoch = 0; epoch < kEpochs; ++epoch) {
        const EegRecording source =
            synthetic_epoch(static_cast<std::size_t>(epoch) % kSleepStages,
                            {kChannels, kSeconds * 200}, static_cast<std::uint64_t>(epoch));
        const torch::Tensor values =
            torch::tensor(at::ArrayRef<float>(source.values)).view({kChannels, kSeconds, 200});
        if (!torch::allclose(all.images[i] * 100, values, 0, 0.05)) continue;
        found.insert(epoch);
        EXPECT_EQ(all.labels[i].item<int>(), epoch % static_cast<int>(kSleepStages));
      }
  }
  EXPECT_EQ(found.size(), static_cast<std::size_t>(kEpochs));
}

TEST_F(RecordedEpochs, MoreThanThereAreAreRefused) {
  write_night(night(), 1000);
  EXPECT_THAT(
      refusal(8, 3),
      HasSubstr("night.edf: expected 8 epochs for training and 3 for validation, found 10"));
}

// An amplifier whose range is in nanovolts: the values are beyond what 16 bits hold.
TEST_F(RecordedEpochs, ARecordingWithFaultsIsRefused) {
  write_night(night(), 40000);
  EXPECT_EQ(refusal(7, 3), "accepted");
  fs::remove(night());
  const int file = edfopen_file_writeonly_with_params(night().c_str(), EDFLIB_FILETYPE_EDFPLUS, 1,
                                                      200, 40000, "uV");
  std::vector<double> clipped(200, 35000.0);
  clipped[0] = 0;
  for (int second = 0; second < 60; ++second) edfwrite_physical_samples(file, clipped.data());
  edfclose_file(file);
  EXPECT_THAT(refusal(1, 1), HasSubstr("sample 1: expected a sound signal, found clipped"));
}

TEST_F(RecordedEpochs, AMissingRecordingIsRefused) {
  EXPECT_THAT(refusal(1, 1), HasSubstr("night.edf: no such file"));
}

}  // namespace
}  // namespace memduel
