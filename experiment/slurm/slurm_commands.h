// Slurm as its commands answer: sbatch, squeue, sacct, scontrol, sinfo, scancel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/capture.h"

namespace memduel {

/// A task of a job array.
struct SlurmTaskId {
  std::int64_t job = 0;
  int index = 0;
  auto operator<=>(const SlurmTaskId&) const = default;
};

/// "17_2".
std::string to_text(const SlurmTaskId& id);

/// What is in the queue: PENDING, RUNNING, COMPLETING and so on.
struct SlurmTask {
  std::string state;
  std::string reason;  ///< why it waits, in Slurm's word; "None" where it has no reason
};

class SlurmCommands {
 public:
  using Run = std::function<Captured(const std::vector<std::string>& argv)>;

  /// @param run starts a command and waits for it.
  explicit SlurmCommands(Run run = [](const auto& argv) { return capture(argv); })
      : run_(std::move(run)) {}

  /// Hands a batch script over; returns the job's number. Throws Error(cannot_measure) with what
  /// sbatch said.
  std::int64_t submit(const std::vector<std::string>& options,
                      const std::filesystem::path& script) const;

  /// The tasks of these arrays that have not ended; absent where Slurm does not answer.
  [[nodiscard]] std::optional<std::map<SlurmTaskId, SlurmTask>> queue(
      const std::vector<std::int64_t>& jobs) const;

  /// The arrays of this name that are in the queue. Throws Error(cannot_measure).
  [[nodiscard]] std::vector<std::int64_t> jobs_named(const std::string& name) const;

  /// How a task ended, in Slurm's words: COMPLETED, FAILED, TIMEOUT, OUT_OF_MEMORY and so on; empty
  /// where Slurm has forgotten it.
  [[nodiscard]] std::string end_of(const SlurmTaskId& task) const;

  /// The index of an array's task is smaller.
  [[nodiscard]] int max_array_size() const;

  /// Nodes of a partition, or of all. Throws Error(cannot_measure).
  [[nodiscard]] int nodes(const std::string& partition) const;

  void cancel(const std::vector<std::int64_t>& jobs) const;

 private:
  std::string expect(const std::vector<std::string>& argv) const;

  Run run_;
};

}  // namespace memduel
