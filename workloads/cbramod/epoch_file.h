// The epochs of a study on disk, from where every fine-tuning loads them.
#pragma once

#include <filesystem>
#include <fstream>
#include <vector>

#include "fl/training.h"

namespace memduel {

class EpochFile {
 public:
  /// Makes the file from synthetic epochs, one in memory at a time, or from the recording that the
  /// workload names. Throws Error(io), also for a recording with faults (eeg_recording.h) or too
  /// few epochs.
  EpochFile(std::filesystem::path path, const WorkloadConfig& workload,
            const std::filesystem::path& data_dir);
  EpochFile(const EpochFile&) = delete;
  EpochFile& operator=(const EpochFile&) = delete;
  ~EpochFile();

  /// [n, channels, patches, 200] in units of 100 microvolts, as CBraMod has them; each call reads
  /// the file. Throws Error(io).
  [[nodiscard]] Samples train() const { return read(0, train_); }
  [[nodiscard]] Samples validation() const { return read(train_, validation_); }

 private:
  [[nodiscard]] Samples read(std::int64_t first, std::int64_t count) const;

  void write_synthetic(const WorkloadConfig& workload);
  void write_recorded(const WorkloadConfig& workload, const std::filesystem::path& recording);
  void write(const std::vector<float>& values);

  std::filesystem::path path_;
  std::ofstream file_;
  std::vector<std::int64_t> stages_;
  std::int64_t train_;
  std::int64_t validation_;
  std::int64_t channels_;
  std::int64_t patches_;
};

}  // namespace memduel
