#include "epoch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "eeg_recording.h"
#include "fl/models.h"
#include "synthetic_eeg.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr float kMicrovoltsPerUnit = 100;
/// Of an epoch: the set's, times this, plus its number.
constexpr std::uint64_t kSeedsPerSet = 1000003;

EegRecording sound_recording(const std::filesystem::path& path) {
  EegRecording recording = read_edf(path);
  if (recording.rate_hz != kEegRate)
    throw Error(ExitCode::io, fmt::format("expected {} Hz, found {}", kEegRate, recording.rate_hz),
                path.string(), "resample it first");
  expect_sound(recording, path.string());
  return recording;
}

}  // namespace

EpochFile::EpochFile(std::filesystem::path path, const WorkloadConfig& workload,
                     const std::filesystem::path& data_dir)
    : path_(std::move(path)),
      file_(path_, std::ios::binary | std::ios::trunc),
      train_(static_cast<std::int64_t>(workload.dataset.train_samples.value_or(0))),
      validation_(static_cast<std::int64_t>(workload.dataset.test_samples.value_or(0))),
      channels_(workload.dataset.channels),
      patches_(workload.dataset.seconds) {
  if (workload.dataset.file.empty())
    write_synthetic(workload);
  else
    write_recorded(workload, data_dir / workload.dataset.file);
  file_.close();
  if (!file_) throw Error(ExitCode::io, "cannot write the epochs", path_.string());
}

EpochFile::~EpochFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void EpochFile::write(const std::vector<float>& values) {
  file_.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
}

void EpochFile::write_synthetic(const WorkloadConfig& workload) {
  const EegShape shape{static_cast<std::size_t>(channels_),
                       static_cast<std::size_t>(patches_ * kEegPatch)};
  for (std::int64_t i = 0; i < train_ + validation_; ++i) {
    const std::size_t stage = static_cast<std::size_t>(i) % kSleepStages;
    const std::uint64_t seed = workload.dataset.seed * kSeedsPerSet + static_cast<std::uint64_t>(i);
    std::vector<float> values = synthetic_epoch(stage, shape, seed).values;
    for (float& value : values) value /= kMicrovoltsPerUnit;
    write(values);
    stages_.push_back(static_cast<std::int64_t>(stage));
  }
}

void EpochFile::write_recorded(const WorkloadConfig& workload,
                               const std::filesystem::path& recording) {
  const EegRecording night = sound_recording(recording);
  std::vector<StagedEpoch> epochs =
      staged_epochs(night, workload.dataset.seconds, recording.string());
  const auto wanted = static_cast<std::size_t>(train_ + validation_);
  if (epochs.size() < wanted)
    throw Error(ExitCode::io,
                fmt::format("expected {} epochs for training and {} for validation, found {}",
                            train_, validation_, epochs.size()),
                recording.string());
  channels_ = static_cast<std::int64_t>(night.channels.size());
  RandomEngine engine(workload.dataset.seed);
  const auto length = static_cast<std::size_t>(patches_ * kEegPatch);
  const std::vector<std::size_t> order = random_order(epochs.size(), engine);
  for (std::size_t i = 0; i < wanted; ++i) {
    const StagedEpoch& epoch = epochs[order[i]];
    std::vector<float> values;
    for (std::size_t channel = 0; channel < night.channels.size(); ++channel)
      for (const float value : night.channel(channel).subspan(epoch.first_sample, length))
        values.push_back(value / kMicrovoltsPerUnit);
    write(values);
    stages_.push_back(static_cast<std::int64_t>(epoch.stage));
  }
}

Samples EpochFile::read(std::int64_t first, std::int64_t count) const {
  const torch::Tensor epochs = torch::empty({count, channels_, patches_, kEegPatch});
  const torch::Tensor labels = torch::empty({count}, torch::kLong);
  std::copy_n(stages_.begin() + first, count, labels.data_ptr<std::int64_t>());
  std::ifstream file(path_, std::ios::binary);
  const auto one = channels_ * patches_ * kEegPatch * static_cast<std::int64_t>(sizeof(float));
  file.seekg(first * one);
  file.read(reinterpret_cast<char*>(epochs.data_ptr<float>()), count * one);
  if (!file) throw Error(ExitCode::io, "the epochs cannot be read to their end", path_.string());
  return {epochs, labels, 0, 1};
}

}  // namespace memduel
