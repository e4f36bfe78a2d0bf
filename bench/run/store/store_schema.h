// The tables of run.sqlite, and the names in them.
#pragma once

#include <cstdint>

#include "run/store.h"

namespace memduel {

/// Written to PRAGMA user_version; a reader refuses a later one, and shows an earlier one as
/// current (show_as_current). Version 1 has no tables of files, versions 1 and 2 know one profiler
/// and no allocators, version 3 no directions of metrics, version 4 no peaks outside rounds, and
/// not whether a peak is sampled; versions 1 to 5 have the names of schema 1, and versions 1 to 6 a
/// row for each number of a round.
inline constexpr int kStoreVersion = 7;
/// The first version with the names of schema 2.
inline constexpr int kStoreOfSchema2 = 6;
/// Written to PRAGMA application_id: "mduel" cut to four letters.
inline constexpr int kStoreApplication = 0x6d64756c;

inline constexpr char kStoreSchema[] = R"sql(
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE program (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trial (
  id INTEGER PRIMARY KEY, block INTEGER NOT NULL, position INTEGER NOT NULL, variant TEXT NOT NULL,
  kind TEXT NOT NULL, status TEXT NOT NULL, failure TEXT NOT NULL, harness_fault INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, harness_cpu_seconds REAL, model_sha256 TEXT, profiler TEXT NOT NULL);
CREATE TABLE trial_file (
  trial INTEGER NOT NULL REFERENCES trial(id), file TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (trial, file)) WITHOUT ROWID;
CREATE TABLE trial_allocator (
  trial INTEGER NOT NULL REFERENCES trial(id), role TEXT NOT NULL, library TEXT NOT NULL, PRIMARY KEY (trial, role)) WITHOUT ROWID;
CREATE TABLE role (
  id INTEGER PRIMARY KEY, trial INTEGER NOT NULL REFERENCES trial(id), role TEXT NOT NULL,
  exit_status INTEGER, exit_signal INTEGER, peak_rss_is_sampled INTEGER NOT NULL, UNIQUE (trial, role));
CREATE TABLE metric_names (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE round (
  id INTEGER PRIMARY KEY, role INTEGER NOT NULL REFERENCES role(id), round INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, peak_rss_is_sampled INTEGER NOT NULL,
  names INTEGER NOT NULL REFERENCES metric_names(id), amounts TEXT NOT NULL);
CREATE INDEX round_of_role ON round(role);
CREATE TABLE outside_rounds (
  role INTEGER NOT NULL REFERENCES role(id), part TEXT NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  peak_rss_bytes REAL NOT NULL, peak_rss_is_sampled INTEGER NOT NULL, PRIMARY KEY (role, part)) WITHOUT ROWID;
CREATE TABLE phase (
  id INTEGER PRIMARY KEY, round INTEGER NOT NULL REFERENCES round(id), phase TEXT NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  names INTEGER NOT NULL REFERENCES metric_names(id), amounts TEXT NOT NULL);
CREATE INDEX phase_of_round ON phase(round);
CREATE TABLE role_metric (
  role INTEGER NOT NULL REFERENCES role(id), metric TEXT NOT NULL, value REAL, PRIMARY KEY (role, metric)) WITHOUT ROWID;
CREATE VIEW round_metric AS
  SELECT round.id AS round, name.value AS metric, amount.value AS value
  FROM round JOIN metric_names ON metric_names.id = round.names
  JOIN json_each(metric_names.names) AS name JOIN json_each(round.amounts) AS amount ON amount.key = name.key;
CREATE VIEW phase_metric AS
  SELECT phase.id AS phase, name.value AS metric, amount.value AS value
  FROM phase JOIN metric_names ON metric_names.id = phase.names
  JOIN json_each(metric_names.names) AS name JOIN json_each(phase.amounts) AS amount ON amount.key = name.key;
CREATE TABLE role_direction (
  role INTEGER NOT NULL REFERENCES role(id), metric TEXT NOT NULL, better TEXT NOT NULL, PRIMARY KEY (role, metric, better)) WITHOUT ROWID;
CREATE TABLE series (
  role INTEGER NOT NULL REFERENCES role(id), metric TEXT NOT NULL, samples BLOB NOT NULL, PRIMARY KEY (role, metric));
CREATE TABLE note (
  kind TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL, advice TEXT NOT NULL, UNIQUE (kind, code, message));
CREATE TABLE model_difference (
  baseline TEXT NOT NULL, candidate TEXT NOT NULL, bit_identical INTEGER NOT NULL, max_abs_diff REAL,
  PRIMARY KEY (baseline, candidate)) WITHOUT ROWID;
CREATE TABLE file_difference (
  baseline TEXT NOT NULL, candidate TEXT NOT NULL, file TEXT NOT NULL, max_difference REAL, max_within_baseline REAL,
  PRIMARY KEY (baseline, candidate, file)) WITHOUT ROWID;
)sql";

/// Gives the connection temporary views in place of the tables that are different in a store of
/// `version` or missing there, so that one reader serves all versions. Writes nothing to the file.
/// Throws Error(io) if a process has the role "all".
void show_as_current(const sqlite::Database& database, std::int64_t version);

}  // namespace memduel
