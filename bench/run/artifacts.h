// What trials leave: seen to be new, hashed, and kept once per content; after the last block the
// arms' are compared.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/experiment.h"
#include "model/run_data.h"
#include "run/plan.h"
#include "trial/trial_plan.h"

namespace memduel {

/// What a process wrote to a log; absent if the log is gone or has 32 MiB or more, which are not
/// read into memory. Throws Error(io).
std::optional<std::string> printed_text(const std::filesystem::path& log);

/// What stood where the files will be: one outside the trial's directory may be an earlier trial's.
class FileStamps {
 public:
  explicit FileStamps(const std::vector<Artifact>& artifacts);

  /// What to say of the first file that is missing or as it was before; nothing when all are new.
  [[nodiscard]] std::optional<std::string> first_not_written() const;

 private:
  timespec begin_;
  std::vector<std::pair<Artifact, std::optional<std::string>>> before_;
};

/// DIR/files/NAME-<first 12 digits of its SHA-256>, with the extension of its path; of the final
/// model DIR/models/ARM-<12 digits>.bin.
std::filesystem::path kept_artifact(const std::filesystem::path& run_directory,
                                    const Artifact& artifact, const std::string& arm,
                                    const std::string& sha256);

/// The name of such a file without its extension.
std::string kept_file_stem(const std::string& name, const std::string& sha256);

/// Puts its SHA-256 into the trial, and a copy into the run directory unless an equal one is there.
/// Of what a process printed there is only the hash, and the paths of the program, its directory
/// and the trial's are left out of it: they differ between arms. It has none if it printed nothing,
/// or 32 MiB or more. Throws Error(io).
void take_artifact(const Artifact& artifact, const TrialPlan& plan,
                   const std::filesystem::path& run_directory, TrialData& trial);

struct ArtifactComparison {
  std::vector<ArtifactDifference> differences;  ///< of those with a `compare`, one per candidate
  std::vector<Note> warnings;
};

/// Asks each artifact's `compare` about what measure trials left and is not equal: of a file in
/// every block, and the baseline's own; of the final model a few of each arm. `logs` takes what the
/// commands print. One that fails or prints no number is a warning. So is what varies within an
/// arm, of files with what of its Python is not pinned.
ArtifactComparison compare_artifacts(const Experiment& experiment, const RunData& run,
                                     const std::filesystem::path& run_directory,
                                     const std::filesystem::path& logs, const RunTrial& run_trial);

}  // namespace memduel
