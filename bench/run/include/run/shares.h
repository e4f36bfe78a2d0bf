// The shares of a run, which machines do together: the part of the plan that each is, all of them
// merged into the one run that they are, and shares as tasks of Slurm's job arrays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "util/process.h"
#include "util/reflection.h"

namespace memduel {

/// One of `of` parts, counted from 1.
struct Share {
  int number = 1;
  int of = 1;
};

/// Superblocks, counted from 0; the first belongs to it, the end does not.
struct SuperblockRange {
  int first = 0;
  int end = 0;

  [[nodiscard]] int blocks() const { return 2 * (end - first); }
};

/// "2/4". Throws Error(usage) at `place` for anything else.
Share share_from(const std::string& text, const std::string& place);
std::string to_text(const Share& share);

/// The superblocks of a share of a run of so many blocks. The same on every machine; shares differ
/// by one superblock at most, and all of them together are the run. Throws Error(usage) for an odd
/// number of blocks, and for more shares than superblocks.
SuperblockRange superblocks_of(const Share& share, int blocks);

/// Makes a run in `out` of the runs in `directories`: measured trials by block, the warm-ups and
/// profiles of the first share, and every share's logs, models and files. Trials are numbered anew.
/// Shares that are missing or were not finished are warnings, and so are machines that differ.
/// Throws Error(usage) naming the directory for what is no share, for the same share twice, for
/// another plan, seed or build, and where `out` holds a run; Error(io).
void merge_shares(const std::vector<std::filesystem::path>& directories,
                  const std::filesystem::path& out);

/// Whether every block of a share's is there. False where there is no run that could be read.
bool is_whole_share(const std::filesystem::path& directory);

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

/// As capture does; handing over and cancelling are finished in spite of a stop.
HelperResult run_slurm_command(const std::vector<std::string>& argv);

class SlurmCommands {
 public:
  using Run = std::function<HelperResult(const std::vector<std::string>& argv)>;

  /// @param run starts a command and waits for it.
  explicit SlurmCommands(Run run = run_slurm_command) : run_(std::move(run)) {}

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
    described("ShareTask", always("shard", &ShareTask::share), always("job", &ShareTask::job),
              always("index", &ShareTask::index), always("attempts", &ShareTask::attempts),
              always("state", &ShareTask::state));
template <>
inline constexpr auto kDescription<SlurmRecord> = described(
    "SlurmRecord", always("schema", &SlurmRecord::schema), always("name", &SlurmRecord::name),
    always("config_sha256", &SlurmRecord::config_sha256), always("seed", &SlurmRecord::seed),
    always("sbatch", &SlurmRecord::sbatch), always("tasks", &SlurmRecord::tasks));

/// A batch script adds this variable's number to a task's index: an array may be too small for all
/// shares.
inline constexpr const char* kShareOffset = "MEMDUEL_SHARD_OFFSET";

/// DIR/shard-3.
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
