// The files that trials must leave: seen to be new, and kept once per content.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan/plan.h"

namespace memduel {

/// What stood where the files will be: one outside the trial's directory may be an earlier trial's.
class FileStamps {
 public:
  explicit FileStamps(const std::vector<TrialFile>& files);

  /// What to say of the first file that is missing or as it was before; nothing when all are new.
  [[nodiscard]] std::optional<std::string> first_not_written() const;

 private:
  timespec begin_;
  std::vector<std::pair<TrialFile, std::optional<std::string>>> before_;
};

/// DIR/files/NAME-<first 12 digits of its SHA-256>, with the extension of `path`.
std::filesystem::path kept_file(const std::filesystem::path& run_directory, const std::string& name,
                                const std::filesystem::path& path, const std::string& sha256);

/// Copies the file there unless an equal one is. Returns its hash. Throws Error(io).
std::string keep_file(const std::filesystem::path& run_directory, const TrialFile& file);

}  // namespace memduel
