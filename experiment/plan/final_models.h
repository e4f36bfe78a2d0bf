// The arms' final models: one copy per distinct content, compared after the run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/run_data.h"
#include "experiment/config/job.h"

namespace memduel {

/// The place of an arm's model with this hash in a run directory.
std::filesystem::path model_copy(const std::filesystem::path& run_directory, const std::string& arm,
                                 const std::string& sha256);

/// Hashes `model` and moves it into the run directory unless a copy is there. Returns the hash.
/// Throws Error(io).
std::string keep_model(const std::filesystem::path& run_directory, const std::string& arm,
                       const std::filesystem::path& model);

/// The largest absolute difference of two files, by the job's program. Throws Error(io) where it
/// gives none.
double difference_of_models(const JobModel& model, const std::filesystem::path& a,
                            const std::filesystem::path& b);

struct ModelComparison {
  std::vector<ModelDifference> differences;  ///< one per candidate; none without models
  std::vector<Note> warnings;
};

/// Compares every candidate's models of `ok` measure trials with the baseline's. Equal hashes are
/// bit-identical; else `compare` gives the largest absolute difference of two files, and where it
/// throws Error the difference is absent and a warning says why.
ModelComparison compare_final_models(
    const std::filesystem::path& run_directory, const RunData& run, const std::string& baseline,
    const std::vector<std::string>& candidates,
    const std::function<double(const std::filesystem::path&, const std::filesystem::path&)>&
        compare);

}  // namespace memduel
