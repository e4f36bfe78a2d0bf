// A run directory: run.sqlite, which has every trial of one run, written as it ends, read back as
// plain values; the lock that keeps a second memduel out; and profiles/. The tables are documented
// in docs/formats.md.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run_data.h"
#include "model/run_directory.h"
#include "trial/trial_plan.h"
#include "util/file.h"

namespace memduel {

/// Holds flock on DIR/run.lock, which names the process; the system frees it when the process ends,
/// however that happens.
class RunLock {
 public:
  /// Throws Error(usage) naming the process that holds the lock, Error(io) when the file cannot be
  /// made.
  explicit RunLock(const std::filesystem::path& directory);

 private:
  Descriptor file_;
};

/// Whether a process holds the lock of `directory`: its run is still going.
bool is_in_use(const std::filesystem::path& directory);

}  // namespace memduel

namespace memduel::sqlite {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

enum class Mode {
  create,
  read_write,
  read_only,
  read_locked,  ///< without a lock of its own: another connection of this process has one
};

/// One connection, of one thread if it only reads. Every failure is an Error(io) that names the
/// file and SQLite's reason.
class Database {
 public:
  Database(const std::filesystem::path& file, Mode mode);
  /// A database in memory with these bytes as its file; read-only. For fuzzing.
  static Database from_bytes(std::string_view bytes);

  void execute(const std::string& sql);
  /// Lets the next transactions reach the disk when the kernel writes them, unless the last one
  /// that was synced began a second ago: syncing takes longer than a short trial. A process that is
  /// killed loses nothing; a machine that loses power, the run's last second.
  void pace_syncs();
  [[noreturn]] void fail(const std::string& doing) const;
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  explicit Database(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::chrono::steady_clock::time_point synced_;
  std::unique_ptr<sqlite3, CloseDatabase> handle_;
};

/// A prepared statement: bind in the order of its parameters, then step through its rows.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  Statement& bind(std::int64_t value);
  Statement& bind(int value) { return bind(std::int64_t{value}); }
  Statement& bind(bool value) { return bind(std::int64_t{value}); }
  Statement& bind(double value);  ///< NaN is stored as NULL
  Statement& bind(const std::string& text);
  Statement& bind(const char* text) { return bind(std::string(text)); }
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  bool step();   ///< true: there is a row
  void reset();  ///< ready for the next values
  void run();    ///< runs to the end, then resets

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] int small_integer(int column) const;  ///< Error(io) when it does not fit an int
  [[nodiscard]] double real(int column) const;        ///< NULL is NaN
  [[nodiscard]] std::string text(int column) const;   ///< made valid UTF-8
  /// The bytes of a text as they are; until the next step.
  [[nodiscard]] std::string_view stored_text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;  ///< until the next step

 private:
  const Database& database_;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> handle_;
  int next_parameter_ = 1;
};

/// Commits when told to, else rolls back.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace memduel::sqlite

namespace memduel {

/// In the environment of a run that is a share of one: "2/4".
inline constexpr const char* kShareKey = "shard";

/// What identifies a run: a resumed one must have the same.
struct RunHeader {
  Document config;
  std::string config_sha256;
  JobFacts job;
  nlohmann::json environment;
  std::map<std::string, std::string> programs;  ///< path to SHA-256 of what the trials execute
};

/// Whether a run is there, finished or not.
bool has_run(const std::filesystem::path& directory);

/// Of all files below `directory`; absent if it cannot be read.
std::optional<double> directory_bytes(const std::filesystem::path& directory);

/// Throws Error(usage) when `directory` holds a run.
void refuse_used_directory(
    const std::filesystem::path& directory,
    const std::string& advice = "use another --out, or --resume to continue that run");

/// Throws Error(usage) if a memduel whose store has an earlier version began the run in
/// `directory`: it is read, but not continued.
void refuse_resume_of_earlier(const std::filesystem::path& directory);

/// The writer of one run directory. It alone writes while it lives; readers may read meanwhile.
class Store {
 public:
  /// Makes `directory` with run.sqlite and config.json. Throws Error(usage) when it holds a run
  /// already or is in use, Error(io) when it cannot be written.
  static Store create(const std::filesystem::path& directory, const RunHeader& header);

  /// Opens an interrupted run. Throws Error(usage) when the config, a program or the environment's
  /// fingerprint changed, an earlier version began it or there is no run, Error(io) when the store
  /// is damaged.
  static Store resume(const std::filesystem::path& directory, const RunHeader& header);

  /// Adds a trial, all of it or nothing.
  void add_trial(const TrialData& trial);

  /// A trial that is still going on, as far as it is: adds it when it is not there, else puts its
  /// end, status, metrics and series in the place of what is there, and adds its rounds, which must
  /// be new ones. All of it or nothing.
  void grow_trial(const TrialData& trial);

  /// Marks every trial of a block as dropped: a fault of the harness touched it.
  void drop_block(int block);

  /// Of a run whose subjects are known by other names now; nothing that trials depend on may
  /// change.
  void replace_config(const Document& config);

  /// Notes that stand already are not added again.
  void add_limitation(const Note& note);
  void add_warning(const Note& note);
  /// Those of an earlier part of the run that no longer hold.
  void forget_notes(const std::string& code);
  void set_artifact_differences(const std::vector<ArtifactDifference>& differences);

  /// The run so far, without series.
  [[nodiscard]] RunData read() const;

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  Store(std::filesystem::path directory, RunLock lock, sqlite::Database database);
  void add_note(const char* kind, const Note& note);

  std::filesystem::path directory_;
  RunLock lock_;
  sqlite::Database database_;
};

/// SHA-256 of what the trials of the run in `directory` execute, by path. Throws as read_run does.
std::map<std::string, std::string> read_programs(const std::filesystem::path& directory);

enum class WithSeries { no, yes };

/// The run in `directory`, also while it is going on; its `job` has no roles where an older memduel
/// began it. Throws Error(io) when there is none or it is
/// damaged.
RunData read_run(const std::filesystem::path& directory, WithSeries series = WithSeries::yes);

/// The same from an open database.
RunData read_run(const sqlite::Database& database, WithSeries series);

/// The config of the run in `directory`. Throws as read_run does.
Document read_config(const std::filesystem::path& directory);

/// read_run(), with what a run of an older memduel did not keep of its job.
RunData read_kept_run(const std::filesystem::path& directory, WithSeries series);

/// What another tool left out, which is said in its file alone, or why that cannot be read; as
/// lines that begin with `name`. Reading it when it is new finds the names of its addresses, too,
/// while the programs are what they were, and keeps them.
std::vector<std::string> losses_in(const std::filesystem::path& file, const std::string& name);

/// Brings what a profile trial's tracer left into `folder`, each under the role of its process.
/// @param matched descendants of roles of their own. Returns what is missing of it and why.
/// Throws Error(io) when a profile cannot be written.
std::vector<std::string> keep_profiles(const TrialPlan& plan,
                                       const std::map<pid_t, std::string>& matched,
                                       const std::filesystem::path& folder);

/// The profiles in a run's directory, by name.
std::vector<std::filesystem::path> kept_profiles(const std::filesystem::path& run_directory);

}  // namespace memduel
