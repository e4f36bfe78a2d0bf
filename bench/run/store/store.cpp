#include "run/store.h"

#include <fmt/format.h>

#include <utility>

#include "model/run_directory.h"
#include "round_amounts.h"
#include "series_codec.h"
#include "store_schema.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Statement;
using sqlite::Transaction;

/// What a run directory may hold before its first trial: the logs of builds and their worktrees.
bool is_of_a_run(const fs::path& entry) {
  const std::string name = entry.filename().string();
  return name == kLogsFolder || name == kWorktreesFolder || name == kLockFile ||
         name == "run.sqlite.new";
}

/// A directory with somebody's files keeps them, and gets none of ours beside them.
void refuse_foreign_directory(const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (is_of_a_run(entry.path())) {
      if (!entry.is_symlink()) continue;
      throw Error(ExitCode::usage, "expected a directory or a free name, found a symlink",
                  entry.path().string(), "remove it, or use another --out");
    }
    throw Error(
        ExitCode::usage,
        fmt::format("the output directory contains files that do not belong to a run, such as {}",
                    entry.path().filename().string()),
        directory.string(), "use another --out: a run needs its own directory");
  }
}

void write_header(Database& database, const RunHeader& header) {
  Transaction transaction(database);
  database.execute(kStoreSchema);
  database.execute(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}",
                               kStoreApplication, kStoreVersion));
  Statement insert(database, "INSERT INTO run VALUES (?, ?)");
  insert.bind("config").bind(written_document(header.config).dump()).run();
  insert.bind("config_sha256").bind(header.config_sha256).run();
  insert.bind("job").bind(to_json(header.job).dump()).run();
  insert.bind("environment")
      .bind(header.environment.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
      .run();
  Statement program(database, "INSERT INTO program VALUES (?, ?)");
  for (const auto& [path, sha256] : header.programs) program.bind(path).bind(sha256).run();
  transaction.commit();
}

void write_config(const fs::path& directory, const Document& config) {
  write_file_atomically(directory / kConfigFile, written_document(config).dump(2) + "\n");
}

[[noreturn]] void refuse_resume(const fs::path& directory, const std::string& what) {
  throw Error(ExitCode::usage, "cannot resume: " + what, directory.string(),
              "its trials cannot be compared with new ones; use another --out");
}

std::map<std::string, std::string> stored_programs(const Database& database) {
  std::map<std::string, std::string> programs;
  Statement select(database, "SELECT path, sha256 FROM program");
  while (select.step()) programs[select.text(0)] = select.text(1);
  return programs;
}

}  // namespace

void refuse_resume_of_earlier(const fs::path& directory) {
  const Database database(directory / kStoreFile, sqlite::Mode::read_only);
  Statement version(database, "PRAGMA user_version");
  const std::int64_t found = version.step() ? version.integer(0) : 0;
  if (found >= 1 && found < kStoreVersion)
    throw Error(ExitCode::usage,
                fmt::format("cannot resume: an earlier memduel started it (expected store version "
                            "{}, found {}), and trials of two versions cannot be compared",
                            kStoreVersion, found),
                directory.string(),
                "finish it with the memduel that started it, or use another --out; memduel report "
                "reads its completed trials");
}

std::map<std::string, std::string> read_programs(const fs::path& directory) {
  const Database database(directory / kStoreFile, sqlite::Mode::read_only);
  return stored_programs(database);
}

namespace {

/// Its place in what somebody wrote rather than in what a provider made of it.
std::string first_change(const Document& stored, const Document& now) {
  for (const bool whole : {false, true}) {
    const auto seen = [whole](Document config) {
      if (!whole) config.expanded = nullptr;
      return written_document(config);
    };
    const auto changes = nlohmann::json::diff(seen(stored), seen(now));
    if (!changes.empty()) return changes[0].at("path");
  }
  return "";
}

void refuse_changes(const fs::path& directory, const Database& database, const RunHeader& header) {
  const RunData stored = read_run(database, WithSeries::no);
  if (stored.config_sha256 != header.config_sha256) {
    const std::string first = first_change(stored.config, header.config);
    if (first == "/measure/repeats") {
      const std::optional<int>& began = stored.config.measure.repeats;
      throw Error(ExitCode::usage, "cannot resume: it was started with another --repeats",
                  directory.string(),
                  began ? fmt::format("use --repeats {}", *began) : "omit --repeats");
    }
    if (first == "/default_gates" || first == "/strict_gates" || first.starts_with("/gates"))
      throw Error(ExitCode::usage,
                  "cannot resume: it was started with other gates, which determine its length",
                  directory.string(),
                  "use the original gates; to apply other gates afterwards, run memduel check");
    refuse_resume(directory, fmt::format("the config changed, first at {}", first));
  }
  const auto programs = stored_programs(database);
  for (const auto& [path, sha256] : header.programs) {
    const auto found = programs.find(path);
    if (found == programs.end() || found->second != sha256) {
      refuse_resume(directory, fmt::format("the program {} changed", path));
    }
  }
  const std::string share = stored.environment.value(kShareKey, "");
  if (share != header.environment.value(kShareKey, ""))
    refuse_resume(directory, share.empty() ? "it is a complete run" : "it is shard " + share);
  const auto fingerprint = [](const nlohmann::json& environment) {
    return environment.value("fingerprint", std::string());
  };
  if (fingerprint(stored.environment) != fingerprint(header.environment)) {
    refuse_resume(directory, "the machine or its settings changed");
  }
}

void insert_metrics(Statement& insert, std::int64_t owner, const Metrics& metrics) {
  for (const auto& [metric, value] : metrics) insert.bind(owner).bind(metric).bind(value).run();
}

/// The statements that one trial needs.
struct TrialWriter {
  explicit TrialWriter(const Database& open) : database(open) {}

  const Database& database;
  Statement role{database,
                 "INSERT INTO role (trial, role, exit_status, exit_signal, peak_rss_is_sampled) "
                 "VALUES (?,?,?,?,?)"};
  Statement round{database,
                  "INSERT INTO round (role, round, begin_ns, end_ns, peak_rss_is_sampled, names, "
                  "amounts) VALUES (?,?,?,?,?,?,?)"};
  Statement phase{database,
                  "INSERT INTO phase (round, phase, begin_ns, end_ns, names, amounts) "
                  "VALUES (?,?,?,?,?,?)"};
  Statement role_metric{database, "INSERT INTO role_metric VALUES (?,?,?)"};
  MetricNamesWriter names{database};
  Statement series{database, "INSERT INTO series VALUES (?,?,?)"};
  Statement outside{database, "INSERT INTO outside_rounds VALUES (?,?,?,?,?,?)"};
  Statement direction{database, "INSERT OR IGNORE INTO role_direction VALUES (?,?,?)"};

  [[nodiscard]] std::int64_t last_id() const {
    return sqlite3_last_insert_rowid(database.handle());
  }

  void add(std::int64_t trial, const RoleData& data) {
    role.bind(trial).bind(data.role).bind(data.exit_status).bind(data.exit_signal);
    role.bind(data.peak_rss_is_sampled).run();
    fill(last_id(), data);
  }

  /// Of a role that may be there: its exit, metrics, series and all but its rounds are replaced.
  void grow(std::int64_t trial, const RoleData& data) {
    Statement known(database, "SELECT id FROM role WHERE trial = ? AND role = ?");
    if (!known.bind(trial).bind(data.role).step()) return add(trial, data);
    const std::int64_t id = known.integer(0);
    Statement(
        database,
        "UPDATE role SET exit_status = ?, exit_signal = ?, peak_rss_is_sampled = ? WHERE id = ?")
        .bind(data.exit_status)
        .bind(data.exit_signal)
        .bind(data.peak_rss_is_sampled)
        .bind(id)
        .run();
    Statement(database, "DELETE FROM role_metric WHERE role = ?").bind(id).run();
    Statement(database, "DELETE FROM series WHERE role = ?").bind(id).run();
    Statement(database, "DELETE FROM outside_rounds WHERE role = ?").bind(id).run();
    fill(id, data);
  }

  void fill(std::int64_t id, const RoleData& data) {
    insert_metrics(role_metric, id, data.metrics);
    for (const RoundData& one : data.rounds) add_round(id, one);
    for (const Series& one : data.series) {
      series.bind(id).bind(one.metric).bind_blob(encode_series(one)).run();
    }
    for (const OutsideRounds& one : data.outside_rounds) {
      outside.bind(id).bind(std::string(to_name(one.part))).bind(one.begin_ns).bind(one.end_ns);
      outside.bind(one.peak_rss_bytes).bind(one.peak_rss_is_sampled).run();
    }
    for (const DeclaredDirection& one : data.declared)
      direction.bind(id).bind(one.metric).bind(std::string(to_name(one.better))).run();
  }

  void add_round(std::int64_t owner, const RoundData& data) {
    round.bind(owner).bind(data.round).bind(data.begin_ns).bind(data.end_ns);
    const std::int64_t names_of_round = names.id_of(data.metrics);
    round.bind(data.peak_rss_is_sampled)
        .bind(names_of_round)
        .bind(amounts_text(data.metrics))
        .run();
    const std::int64_t id = last_id();
    for (const PhaseData& one : data.phases) {
      const std::int64_t names_of_phase = names.id_of(one.metrics);
      phase.bind(id).bind(one.phase).bind(one.begin_ns).bind(one.end_ns);
      phase.bind(names_of_phase).bind(amounts_text(one.metrics)).run();
    }
  }
};

}  // namespace

bool has_run(const fs::path& directory) {
  return is_there(directory / kStoreFile);
}

std::optional<double> directory_bytes(const fs::path& directory) {
  double bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code vanished;
    if (at->is_regular_file(vanished)) bytes += static_cast<double>(at->file_size(vanished));
  }
  return error ? std::nullopt : std::optional(bytes);
}

void refuse_used_directory(const fs::path& directory, const std::string& advice) {
  for (const char* file : {kStoreFile, kConfigFile, kResultsFile}) {
    if (!fs::exists(directory / file)) continue;
    throw Error(ExitCode::usage,
                fmt::format("the output directory contains another run ({})", file),
                directory.string(), advice);
  }
}

Store::Store(fs::path directory, RunLock lock, Database database)
    : directory_(std::move(directory)), lock_(std::move(lock)), database_(std::move(database)) {}

Store Store::create(const fs::path& directory, const RunHeader& header) {
  make_directory(directory, "use another --out");
  refuse_used_directory(directory);
  refuse_foreign_directory(directory);
  RunLock lock(directory);
  refuse_used_directory(directory);
  // Under another name until it is whole: a run.sqlite without a header would be nobody's run.
  const fs::path unfinished = directory / "run.sqlite.new";
  fs::remove(unfinished);
  {
    Database database(unfinished, sqlite::Mode::create);
    write_header(database, header);
  }
  fs::rename(unfinished, directory / kStoreFile);
  write_config(directory, header.config);
  return {directory, std::move(lock), Database(directory / kStoreFile, sqlite::Mode::read_write)};
}

void Store::replace_config(const Document& config) {
  const std::string text = written_document(config).dump();
  Transaction transaction(database_);
  Statement update(database_, "UPDATE run SET value = ? WHERE key = ?");
  update.bind(text).bind("config").run();
  update.bind(sha256_hex(text)).bind("config_sha256").run();
  transaction.commit();
  write_config(directory_, config);
}

Store Store::resume(const fs::path& directory, const RunHeader& header) {
  if (!fs::exists(directory / kStoreFile)) {
    throw Error(ExitCode::usage, "found no run to resume", directory.string(),
                "start it without --resume");
  }
  RunLock lock(directory);
  refuse_resume_of_earlier(directory);
  Database database(directory / kStoreFile, sqlite::Mode::read_write);
  Statement check(database, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok") {
    throw Error(ExitCode::io, "the run store is damaged: " + check.text(0),
                (directory / kStoreFile).string(), "start a new run with another --out");
  }
  refuse_changes(directory, database, header);
  write_config(directory, header.config);
  return {directory, std::move(lock), std::move(database)};
}

namespace {

void insert_trial(const Database& database, const TrialData& trial) {
  Statement insert(database, "INSERT INTO trial VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert.bind(trial.id).bind(trial.block).bind(trial.position).bind(trial.arm);
  insert.bind(std::string(to_name(trial.kind)))
      .bind(std::string(to_name(trial.status)))
      .bind(trial.failure);
  insert.bind(trial.harness_fault).bind(trial.begin_ns).bind(trial.end_ns);
  insert.bind(trial.harness_cpu_seconds).bind(trial.model_sha256).bind(trial.tracer).run();
}

bool has_trial(const Database& database, std::int64_t id) {
  return Statement(database, "SELECT 1 FROM trial WHERE id = ?").bind(id).step();
}

}  // namespace

void Store::add_trial(const TrialData& trial) {
  Transaction transaction(database_);
  insert_trial(database_, trial);
  TrialWriter writer(database_);
  for (const RoleData& role : trial.roles) writer.add(trial.id, role);
  Statement file(database_, "INSERT INTO trial_file VALUES (?,?,?)");
  for (const auto& [name, sha256] : trial.files) file.bind(trial.id).bind(name).bind(sha256).run();
  Statement allocator(database_, "INSERT INTO trial_allocator VALUES (?,?,?)");
  for (const auto& [role, library] : trial.allocators)
    allocator.bind(trial.id).bind(role).bind(library).run();
  transaction.commit();
}

void Store::grow_trial(const TrialData& trial) {
  if (!has_trial(database_, trial.id)) return add_trial(trial);
  Transaction transaction(database_);
  Statement(database_,
            "UPDATE trial SET status = ?, failure = ?, end_ns = ?, harness_cpu_seconds = ? "
            "WHERE id = ?")
      .bind(std::string(to_name(trial.status)))
      .bind(trial.failure)
      .bind(trial.end_ns)
      .bind(trial.harness_cpu_seconds)
      .bind(trial.id)
      .run();
  TrialWriter writer(database_);
  for (const RoleData& role : trial.roles) writer.grow(trial.id, role);
  transaction.commit();
}

void Store::drop_block(int block) {
  Statement(database_, "UPDATE trial SET status = 'dropped' WHERE block = ?").bind(block).run();
}

void Store::add_note(const char* kind, const Note& note) {
  Statement insert(database_, "INSERT OR IGNORE INTO note VALUES (?,?,?,?)");
  insert.bind(kind).bind(note.code).bind(note.message).bind(note.advice).run();
}

void Store::add_limitation(const Note& note) {
  add_note("limitation", note);
}
void Store::add_warning(const Note& note) {
  add_note("warning", note);
}

void Store::forget_notes(const std::string& code) {
  Statement(database_, "DELETE FROM note WHERE code = ?").bind(code).run();
}

void Store::set_artifact_differences(const std::vector<ArtifactDifference>& differences) {
  Transaction transaction(database_);
  database_.execute("DELETE FROM model_difference");
  database_.execute("DELETE FROM file_difference");
  Statement model(database_, "INSERT INTO model_difference VALUES (?,?,?,?)");
  Statement file(database_, "INSERT INTO file_difference VALUES (?,?,?,?,?)");
  for (const ArtifactDifference& one : differences) {
    if (one.artifact == kFinalModel) {
      model.bind(one.baseline).bind(one.candidate).bind(one.bit_identical);
      model.bind(one.max_difference).run();
    } else {
      file.bind(one.baseline).bind(one.candidate).bind(one.artifact);
      file.bind(one.max_difference).bind(one.max_within_baseline).run();
    }
  }
  transaction.commit();
}

RunData Store::read() const {
  return read_run(database_, WithSeries::no);
}

}  // namespace memduel
