// The tables of run.sqlite, and the names in them.
#pragma once

#include <string>

#include "model/run_data.h"

namespace memduel {

/// Written to PRAGMA user_version; a reader refuses a later one. Version 1 has no tables of files,
/// versions 1 and 2 know one tracer and no allocators, version 3 no directions of metrics,
/// version 4 no peaks outside rounds, and not whether a peak is sampled.
inline constexpr int kStoreVersion = 5;
/// Written to PRAGMA application_id: "mduel" cut to four letters.
inline constexpr int kStoreApplication = 0x6d64756c;

inline constexpr char kStoreSchema[] = R"sql(
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE program (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trial (
  id INTEGER PRIMARY KEY, block INTEGER NOT NULL, position INTEGER NOT NULL, arm TEXT NOT NULL,
  kind TEXT NOT NULL, status TEXT NOT NULL, failure TEXT NOT NULL, harness_fault INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, harness_cpu_seconds REAL, model_sha256 TEXT, tracer TEXT NOT NULL);
CREATE TABLE role (
  id INTEGER PRIMARY KEY, trial INTEGER NOT NULL REFERENCES trial(id), role TEXT NOT NULL,
  exit_status INTEGER, exit_signal INTEGER, UNIQUE (trial, role));
CREATE TABLE round (
  id INTEGER PRIMARY KEY, role INTEGER NOT NULL REFERENCES role(id), round INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);
CREATE INDEX round_of_role ON round(role);
CREATE TABLE phase (
  id INTEGER PRIMARY KEY, round INTEGER NOT NULL REFERENCES round(id), phase TEXT NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);
CREATE INDEX phase_of_round ON phase(round);
CREATE TABLE role_metric (
  role INTEGER NOT NULL REFERENCES role(id), metric TEXT NOT NULL, value REAL, PRIMARY KEY (role, metric)) WITHOUT ROWID;
CREATE TABLE round_metric (
  round INTEGER NOT NULL REFERENCES round(id), metric TEXT NOT NULL, value REAL, PRIMARY KEY (round, metric)) WITHOUT ROWID;
CREATE TABLE phase_metric (
  phase INTEGER NOT NULL REFERENCES phase(id), metric TEXT NOT NULL, value REAL, PRIMARY KEY (phase, metric)) WITHOUT ROWID;
CREATE TABLE series (
  role INTEGER NOT NULL REFERENCES role(id), metric TEXT NOT NULL, samples BLOB NOT NULL, PRIMARY KEY (role, metric));
CREATE TABLE note (
  kind TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL, advice TEXT NOT NULL, UNIQUE (kind, code, message));
CREATE TABLE model_difference (
  baseline TEXT NOT NULL, candidate TEXT NOT NULL, bit_identical INTEGER NOT NULL, max_abs_diff REAL,
  PRIMARY KEY (baseline, candidate)) WITHOUT ROWID;
)sql";

/// Since version 2.
inline constexpr char kFilesSchema[] = R"sql(
CREATE TABLE trial_file (
  trial INTEGER NOT NULL REFERENCES trial(id), file TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (trial, file)) WITHOUT ROWID;
CREATE TABLE file_difference (
  baseline TEXT NOT NULL, candidate TEXT NOT NULL, file TEXT NOT NULL, max_difference REAL, max_within_baseline REAL,
  PRIMARY KEY (baseline, candidate, file)) WITHOUT ROWID;
)sql";

/// Since version 3.
inline constexpr char kAllocatorsSchema[] = R"sql(
CREATE TABLE trial_allocator (
  trial INTEGER NOT NULL REFERENCES trial(id), role TEXT NOT NULL, library TEXT NOT NULL, PRIMARY KEY (trial, role)) WITHOUT ROWID;
)sql";

/// Since version 4: what programs declare of their own metrics, "lower" or "higher".
inline constexpr char kDirectionsSchema[] = R"sql(
CREATE TABLE role_direction (
  role INTEGER NOT NULL REFERENCES role(id), metric TEXT NOT NULL, better TEXT NOT NULL, PRIMARY KEY (role, metric, better)) WITHOUT ROWID;
)sql";

/// Since version 5: the peaks of a trial besides its rounds', and which peaks are samples.
inline constexpr char kPeaksSchema[] = R"sql(
CREATE TABLE outside_rounds (
  role INTEGER NOT NULL REFERENCES role(id), part TEXT NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  peak_rss_bytes REAL NOT NULL, peak_rss_is_sampled INTEGER NOT NULL, PRIMARY KEY (role, part)) WITHOUT ROWID;
ALTER TABLE role ADD COLUMN peak_rss_is_sampled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE round ADD COLUMN peak_rss_is_sampled INTEGER NOT NULL DEFAULT 0;
)sql";

}  // namespace memduel
