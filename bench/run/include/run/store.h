// run.sqlite: every trial of one run, written as it ends, read back as plain values.
// The tables are documented in docs/formats.md.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/run_data.h"
#include "base/run_directory.h"
#include "experiment/store/run_lock.h"
#include "experiment/store/sqlite.h"

namespace memduel {

/// In the environment of a run that is a share of one: "2/4".
inline constexpr const char* kShareKey = "share";

/// What identifies a run: a resumed one must have the same.
struct RunHeader {
  nlohmann::json config;
  std::string config_sha256;
  JobFacts job;
  nlohmann::json environment;
  std::map<std::string, std::string> programs;  ///< path to SHA-256 of what the trials execute
};

/// Whether a run is there, finished or not.
bool has_run(const std::filesystem::path& directory);

/// Throws Error(usage) when `directory` holds a run.
void refuse_used_directory(
    const std::filesystem::path& directory,
    const std::string& advice = "give another --out, or --resume to continue that run");

/// The writer of one run directory. It alone writes while it lives; readers may read meanwhile.
class Store {
 public:
  /// Makes `directory` with run.sqlite and config.json. Throws Error(usage) when it holds a run
  /// already or is in use, Error(io) when it cannot be written.
  static Store create(const std::filesystem::path& directory, const RunHeader& header);

  /// Opens an interrupted run. Throws Error(usage) when the config, a program or the environment's
  /// fingerprint changed or there is no run, Error(io) when the store is damaged.
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
  void replace_config(const nlohmann::json& config);

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

}  // namespace memduel
