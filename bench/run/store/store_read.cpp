// Reading run.sqlite. The file may come from anywhere, so that nothing in it is taken for granted.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "config/provider.h"
#include "model/renamed_since_1.h"
#include "model/run_data.h"
#include "model/run_directory.h"
#include "round_amounts.h"
#include "run/store.h"
#include "series_codec.h"
#include "store_schema.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/json.h"
#include "util/process.h"

namespace memduel {
namespace {

using nlohmann::json;
using sqlite::Database;
using sqlite::Statement;

/// Throws for a name that no version of memduel wrote.
template <Named Enum>
Enum value_named(const std::string& text) {
  if (const auto value = from_name<Enum>(text)) return *value;
  throw Error(ExitCode::io, "the run store is damaged: found \"" + text + "\" for a trial");
}

std::int64_t pragma(const Database& database, const char* name) {
  Statement statement(database, std::string("PRAGMA ") + name);
  return statement.step() ? statement.integer(0) : 0;
}

/// Returns the version of the store's tables.
std::int64_t refuse_foreign(const Database& database) {
  if (pragma(database, "application_id") != kStoreApplication) {
    throw Error(ExitCode::io, "not a run store of memduel");
  }
  const auto version = pragma(database, "user_version");
  if (version >= 1 && version <= kStoreVersion) return version;
  throw Error(ExitCode::io,
              fmt::format("expected store version 1 to {}, found {}", kStoreVersion, version), "",
              "read it with the memduel version that wrote it");
}

std::optional<std::string> maybe_run_value(const Database& database, const char* key) {
  Statement select(database, "SELECT value FROM run WHERE key = ?");
  if (!select.bind(key).step()) return std::nullopt;
  return select.text(0);
}

std::string run_value(const Database& database, const char* key) {
  const auto value = maybe_run_value(database, key);
  if (!value) throw Error(ExitCode::io, fmt::format("the run store is damaged: found no {}", key));
  return *value;
}

json run_json(const Database& database, const char* key) {
  json value = parse_foreign_json(run_value(database, key));
  if (!value.is_object()) {
    throw Error(ExitCode::io,
                fmt::format("the run store is damaged: {} is not a JSON object", key));
  }
  return value;
}

Document config_of(const Database& database) {
  json config = run_json(database, "config");
  if (refuse_foreign(database) < kStoreOfSchema2) translate_config_1(config);
  return document_of_run(config);
}

/// Reads a table whose rows belong to a role, round or phase in one pass, which is sequential as
/// long as the owners ascend: most rounds have no phases, and a query for each would find nothing.
class OwnedRows {
 public:
  /// @param owner    the column with what a row belongs to
  /// @param columns  that are read: columns 1 and later of the rows
  OwnedRows(const Database& database, const std::string& table, const std::string& owner,
            const std::string& columns, const std::string& order = "")
      : select_(database, fmt::format("SELECT {1}, {2} FROM {0} WHERE {1} >= ? ORDER BY {1}{3}",
                                      table, owner, columns, order)) {}

  template <typename Take>
  void each_of(std::int64_t owner, const Take& take) {
    if (!last_owner_ || owner <= last_owner_ || (row_owner_ && owner > row_owner_)) seek(owner);
    last_owner_ = owner;
    for (; row_owner_ == owner; step()) take(select_);
  }

 private:
  void seek(std::int64_t owner) {
    select_.reset();
    select_.bind(owner);
    step();
  }

  void step() {
    row_owner_.reset();
    if (select_.step()) row_owner_ = select_.integer(0);
  }

  Statement select_;
  std::optional<std::int64_t> last_owner_;
  std::optional<std::int64_t> row_owner_;  ///< of the current row; absent after the last one
};

/// Reads a table with a row for each number.
class MetricReader {
 public:
  MetricReader(const Database& database, const std::string& table, const std::string& owner)
      : rows_(database, table, owner, "metric, value") {}

  Metrics metrics_of(std::int64_t owner) {
    auto next = names_.begin();
    metrics_.clear();
    rows_.each_of(
        owner, [&](const Statement& row) { metrics_.assign(next_name(next, row), row.real(2)); });
    return metrics_;  // a copy, with no more memory than it needs
  }

 private:
  using Names = std::map<std::string, MetricName, std::less<>>;

  /// The rows of most owners have the same names in the same order.
  MetricName next_name(Names::iterator& next, const Statement& row) {
    const std::string_view stored = row.stored_text(1);
    if (next == names_.end() || next->first != stored) {
      next = names_.find(stored);
      if (next == names_.end()) next = names_.emplace(stored, MetricName(row.text(1))).first;
    }
    return next++->second;
  }

  OwnedRows rows_;
  Names names_;  ///< by the bytes in the store
  Metrics metrics_;
};

/// The statements that reading trials needs, one per table.
struct TrialReader {
  TrialReader(const Database& open, WithSeries with) : database(open), with_series(with) {}

  const Database& database;
  WithSeries with_series;
  Statement role{database,
                 "SELECT id, role, exit_status, exit_signal, peak_rss_is_sampled FROM role "
                 "WHERE trial = ? ORDER BY id"};
  Statement round{
      database,
      "SELECT id, round, begin_ns, end_ns, peak_rss_is_sampled, names, amounts FROM round "
      "WHERE role = ? ORDER BY id"};
  OwnedRows phase{database, "phase", "round", "id, phase, begin_ns, end_ns, names, amounts",
                  ", id"};
  MetricReader role_metric{database, "role_metric", "role"};
  AmountsReader amounts{database};
  std::optional<MetricReader> round_metric;  ///< of versions 1 to 6
  std::optional<MetricReader> phase_metric;  ///< of versions 1 to 6
  Statement series{database, "SELECT metric, samples FROM series WHERE role = ? ORDER BY metric"};

  std::vector<RoleData> roles(std::int64_t trial) {
    std::vector<RoleData> result;
    role.bind(trial);
    while (role.step()) {
      const std::int64_t id = role.integer(0);
      RoleData data;
      data.role = role.text(1);
      if (!role.is_null(2)) data.exit_status = role.small_integer(2);
      if (!role.is_null(3)) data.exit_signal = role.small_integer(3);
      data.peak_rss_is_sampled = role.integer(4) != 0;
      data.metrics = role_metric.metrics_of(id);
      data.rounds = rounds(id);
      if (with_series == WithSeries::yes) data.series = all_series(id);
      result.push_back(std::move(data));
    }
    role.reset();
    return result;
  }

  /// The numbers of a row of `rows`, whose columns `names` and the next have them; null in a store
  /// with a row for each number.
  Metrics metrics_of(const Statement& rows, int names, std::optional<MetricReader>& apart,
                     const std::string& owner, std::int64_t id) {
    if (!rows.is_null(names))
      return amounts.metrics_of(rows.integer(names), rows.stored_text(names + 1));
    if (!apart) apart.emplace(database, owner + "_metric", owner);
    return apart->metrics_of(id);
  }

  std::vector<RoundData> rounds(std::int64_t owner) {
    std::vector<RoundData> result;
    round.bind(owner);
    while (round.step()) {
      const std::int64_t id = round.integer(0);
      result.push_back({round.small_integer(1), round.integer(2), round.integer(3),
                        metrics_of(round, 5, round_metric, "round", id), phases(id),
                        round.integer(4) != 0});
    }
    round.reset();
    return result;
  }

  std::vector<PhaseData> phases(std::int64_t owner) {
    std::vector<PhaseData> result;
    phase.each_of(owner, [&](const Statement& row) {
      result.push_back({row.text(2), row.integer(3), row.integer(4),
                        metrics_of(row, 5, phase_metric, "phase", row.integer(1))});
    });
    return result;
  }

  std::vector<Series> all_series(std::int64_t owner) {
    std::vector<Series> result;
    series.bind(owner);
    while (series.step()) {
      result.push_back(decode_series(series.blob(1)));
      result.back().metric = series.text(0);
    }
    series.reset();
    return result;
  }
};

void read_roles(const Database& database, WithSeries with_series, std::span<TrialData> trials) {
  TrialReader reader(database, with_series);
  for (TrialData& trial : trials) trial.roles = reader.roles(trial.id);
}

/// Reads the roles in several threads, each with a connection of its own. Requires: `file` is that
/// of `locked`, whose transaction keeps other processes from changing it.
void read_roles_in_parallel(const Database& locked, const std::filesystem::path& file,
                            WithSeries with_series, std::span<TrialData> trials) {
  constexpr std::size_t kParts = 8;
  const std::int64_t version = refuse_foreign(locked);
  const std::size_t count = std::min(kParts, trials.size());
  run_parallel(count, [&](std::size_t part) {
    const Database database(file, sqlite::Mode::read_locked);
    show_as_current(database, version);
    const std::size_t begin = part * trials.size() / count;
    const std::size_t end = (part + 1) * trials.size() / count;
    read_roles(database, with_series, trials.subspan(begin, end - begin));
  });
}

/// Everything about the trials but their roles.
std::vector<TrialData> read_trials(const Database& database) {
  std::vector<TrialData> trials;
  Statement select(database,
                   "SELECT id, block, position, variant, kind, status, failure, harness_fault, "
                   "begin_ns, end_ns, harness_cpu_seconds, model_sha256, profiler FROM trial "
                   "ORDER BY id");
  while (select.step()) {
    TrialData trial;
    trial.id = select.integer(0);
    trial.block = select.small_integer(1);
    trial.position = select.small_integer(2);
    trial.arm = select.text(3);
    trial.kind = value_named<TrialKind>(select.text(4));
    trial.status = value_named<TrialStatus>(select.text(5));
    trial.failure = select.text(6);
    trial.harness_fault = select.integer(7) != 0;
    trial.begin_ns = select.integer(8);
    trial.end_ns = select.integer(9);
    trial.harness_cpu_seconds = select.real(10);
    if (!select.is_null(11)) trial.model_sha256 = select.text(11);
    trial.tracer = select.text(12);
    trials.push_back(std::move(trial));
  }
  return trials;
}

/// Reads a table of trial, name, text into one member of the trials.
void read_texts(const Database& database, const char* query, RunData& run,
                std::map<std::string, std::string> TrialData::* member) {
  Statement select(database, query);
  while (select.step()) {
    const std::int64_t id = select.integer(0);
    const auto trial = std::ranges::find(run.trials, id, &TrialData::id);
    if (trial != run.trials.end()) ((*trial).*member)[select.text(1)] = select.text(2);
  }
}

/// The role of a trial that a row begins with; null where there is none.
RoleData* role_of_row(const Statement& select, RunData& run) {
  const std::int64_t id = select.integer(0);
  const auto trial = std::ranges::find(run.trials, id, &TrialData::id);
  if (trial == run.trials.end()) return nullptr;
  const auto role = std::ranges::find(trial->roles, select.text(1), &RoleData::role);
  return role == trial->roles.end() ? nullptr : &*role;
}

/// What programs declare of their own metrics.
void read_directions(const Database& database, RunData& run) {
  Statement select(database,
                   "SELECT role.trial, role.role, metric, better FROM role_direction "
                   "JOIN role ON role.id = role_direction.role");
  while (select.step()) {
    if (RoleData* role = role_of_row(select, run))
      role->declared.insert({select.text(2), value_named<Direction>(select.text(3))});
  }
}

void read_outside_rounds(const Database& database, RunData& run) {
  Statement select(database,
                   "SELECT role.trial, role.role, part, begin_ns, end_ns, peak_rss_bytes, "
                   "outside_rounds.peak_rss_is_sampled FROM outside_rounds "
                   "JOIN role ON role.id = outside_rounds.role");
  while (select.step()) {
    RoleData* role = role_of_row(select, run);
    if (role == nullptr) continue;
    role->outside_rounds.push_back({value_named<TrialPart>(select.text(2)), select.integer(3),
                                    select.integer(4), select.real(5), select.integer(6) != 0});
  }
  for (TrialData& trial : run.trials)
    for (RoleData& role : trial.roles)
      std::ranges::sort(role.outside_rounds, {}, &OutsideRounds::part);
}

/// Reads the differences of artifacts. `query` selects baseline, candidate, artifact, whether it is
/// bit-identical, the largest difference, and the largest one within the baseline.
void read_differences(const Database& database, const std::string& query, RunData& run) {
  Statement select(database, query);
  while (select.step()) {
    ArtifactDifference one{
        select.text(0), select.text(1), select.text(2), select.integer(3) != 0, {}, {}};
    if (!select.is_null(4)) one.max_difference = select.real(4);
    if (!select.is_null(5)) one.max_within_baseline = select.real(5);
    run.artifact_differences.push_back(std::move(one));
  }
}

std::vector<Note> read_notes(const Database& database, const char* kind) {
  std::vector<Note> notes;
  Statement select(database,
                   "SELECT code, message, advice FROM note WHERE kind = ? ORDER BY rowid");
  select.bind(kind);
  while (select.step()) notes.push_back({select.text(0), select.text(1), select.text(2)});
  return notes;
}

/// @param file  of the database, if it has one that nobody changes meanwhile
RunData read_whole_run(const Database& database, WithSeries series,
                       const std::filesystem::path* file) {
  const std::int64_t version = refuse_foreign(database);
  show_as_current(database, version);
  const bool has_old_names = version < kStoreOfSchema2;
  RunData run;
  run.config = config_of(database);
  run.config_sha256 = run_value(database, "config_sha256");
  if (const auto text = maybe_run_value(database, "job")) {
    json job = parse_foreign_json(*text);
    if (has_old_names) translate_job_1(job);
    run.job = job_facts_from_json(job, "");
  }
  run.environment = run_json(database, "environment");
  if (has_old_names) translate_environment_1(run.environment);
  run.trials = read_trials(database);
  if (file != nullptr)
    read_roles_in_parallel(database, *file, series, run.trials);
  else
    read_roles(database, series, run.trials);
  read_differences(database,
                   fmt::format("SELECT baseline, candidate, '{}', bit_identical, max_abs_diff, "
                               "NULL FROM model_difference",
                               kFinalModel),
                   run);
  read_texts(database, "SELECT trial, file, sha256 FROM trial_file", run, &TrialData::files);
  read_differences(database,
                   "SELECT baseline, candidate, file, 0, max_difference, max_within_baseline "
                   "FROM file_difference",
                   run);
  read_texts(database, "SELECT trial, role, library FROM trial_allocator", run,
             &TrialData::allocators);
  run.limitations = read_notes(database, "limitation");
  run.warnings = read_notes(database, "warning");
  read_directions(database, run);
  read_outside_rounds(database, run);
  join_declarations(run);
  return run;
}

bool has_write_ahead_log(const Database& database) {
  Statement mode(database, "PRAGMA journal_mode");
  return mode.step() && mode.text(0) == "wal";
}

/// What `read` gives of the store in `directory`, whose errors name the file.
template <typename Read>
auto read_store(const std::filesystem::path& directory, const Read& read) {
  const auto file = directory / kStoreFile;
  if (!std::filesystem::exists(file)) {
    throw Error(ExitCode::io, "not a run directory: run.sqlite is missing", directory.string());
  }
  Database database(file, sqlite::Mode::read_only);
  try {
    // One transaction: a run still going must not change between two tables.
    database.execute("BEGIN");
    return read(database);
  } catch (const Error& error) {
    const bool has_path = error.where().starts_with("$");
    throw Error(error.code(), error.what(),
                file.string() + (has_path ? ", the config's " + error.where() : ""),
                error.advice());
  }
}

}  // namespace

RunData read_run(const Database& database, WithSeries series) {
  return read_whole_run(database, series, nullptr);
}

RunData read_run(const std::filesystem::path& directory, WithSeries series) {
  return read_store(directory, [&](const Database& database) {
    const auto file = directory / kStoreFile;
    // Readers without locks do not see such a log.
    RunData run = read_whole_run(database, series, has_write_ahead_log(database) ? nullptr : &file);
    // The config beside it has names that a run of today refuses.
    const std::string config = (directory / kConfigFile).string();
    if (refuse_foreign(database) < kStoreOfSchema2 && run.environment.is_object() &&
        !run.environment.contains("reproduce"))
      run.environment["reproduce"] = quoted_command_line({"memduel-upgrade-config", config}) +
                                     " && " + quoted_command_line({"memduel", "run", config});
    return run;
  });
}

Document read_config(const std::filesystem::path& directory) {
  return read_store(directory, [](const Database& database) { return config_of(database); });
}

RunData read_kept_run(const std::filesystem::path& directory, WithSeries series) {
  RunData run = read_run(directory, series);
  if (!run.job.roles.empty()) return run;
  if (!run.config.workload.is_known())
    throw Error(ExitCode::io, "the run store is damaged: its config has no known workload",
                directory.string());
  run.job = facts_of_workload(run.config.workload, directory.string());
  return run;
}

}  // namespace memduel
