// The shares of a run as tasks of Slurm's job arrays: handed over, looked after, tried again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json/described.h"
#include "experiment/slurm/slurm_commands.h"

namespace memduel {

inline constexpr const char* kShareWaits = "WAITING";  ///< to be handed over
inline constexpr const char* kShareDone = "DONE";
inline constexpr const char* kShareLost = "LOST";

/// One share's task.
struct ShareTask {
  int share = 0;         ///< from 1
  std::int64_t job = 0;  ///< the array it is in; 0: not handed over yet
  int index = 0;         ///< in that array
  int attempts = 1;
  std::string state = kShareWaits;  ///< then in Slurm's words, at last one of the above
};

/// What slurm.json holds, so that a memduel that was ended can go on from it.
struct SlurmRecord {
  std::string schema;
  std::string name;  ///< of the jobs, which nobody else's has
  std::string config_sha256;
  std::uint64_t seed = 0;
  std::vector<std::string> sbatch;  ///< options
  std::vector<ShareTask> tasks;     ///< by share
};

template <>
inline constexpr auto kDescription<ShareTask> =
    described("ShareTask", always("share", &ShareTask::share), always("job", &ShareTask::job),
              always("index", &ShareTask::index), always("attempts", &ShareTask::attempts),
              always("state", &ShareTask::state));
template <>
inline constexpr auto kDescription<SlurmRecord> = described(
    "SlurmRecord", always("schema", &SlurmRecord::schema), always("name", &SlurmRecord::name),
    always("config_sha256", &SlurmRecord::config_sha256), always("seed", &SlurmRecord::seed),
    always("sbatch", &SlurmRecord::sbatch), always("tasks", &SlurmRecord::tasks));

/// A batch script adds this variable's number to a task's index: an array may be too small for all
/// shares.
inline constexpr const char* kShareOffset = "MEMDUEL_SHARE_OFFSET";

/// DIR/share-3.
std::filesystem::path share_directory(const std::filesystem::path& directory, int share);

/// Throws Error(usage) where `directory` has no shares on Slurm, Error(io) where its record is no
/// such record.
SlurmRecord read_slurm_record(const std::filesystem::path& directory);

class SlurmShares {
 public:
  /// Keeps `record` and the batch script in `directory`; submit() hands the tasks over.
  /// @param retries how often a task that fails is tried again. Throws Error(io).
  SlurmShares(std::filesystem::path directory, SlurmRecord record, int retries,
              SlurmCommands commands = SlurmCommands());

  /// Of a run that is resumed: takes on what a memduel handed over that was ended before it could
  /// write that down, and hands over again what has ended without being done. Returns what is to be
  /// told. Throws Error(cannot_measure) where Slurm does not answer.
  std::vector<std::string> go_on();
  /// Hands over what waits. Throws what SlurmCommands::submit throws.
  void submit();
  /// One look at the queue. Returns what is to be told of it: tasks that are tried again or lost.
  /// Where Slurm does not answer, answers() is false from then on until it does.
  std::vector<std::string> look();

  [[nodiscard]] bool answers() const { return answers_; }
  [[nodiscard]] bool over() const;
  [[nodiscard]] bool has_lost() const;
  [[nodiscard]] const std::vector<ShareTask>& tasks() const { return record_.tasks; }
  /// How many tasks are in a state: "2 RUNNING, 1 PENDING (Resources)".
  [[nodiscard]] std::string summary() const;
  /// Arrays that have tasks which have not ended.
  [[nodiscard]] std::vector<std::int64_t> open_jobs() const;
  void cancel() const { commands_.cancel(open_jobs()); }

 private:
  void save();
  void adopt();
  [[nodiscard]] std::string job_name(int offset) const;
  std::string judge(ShareTask& task);
  [[nodiscard]] std::string how_it_ended(const ShareTask& task, const std::string& end) const;
  [[nodiscard]] std::string last_words(const ShareTask& task) const;

  std::filesystem::path directory_;
  SlurmRecord record_;
  int retries_;
  SlurmCommands commands_;
  std::string saved_;  ///< what the file holds
  bool answers_ = true;
  std::vector<int> gone_;  ///< by task: looks in a row that did not find it
};

/// The script in a directory of shares.
std::filesystem::path slurm_script_file(const std::filesystem::path& directory);

}  // namespace memduel
