#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/metric_catalogue.h"
#include "run/store.h"
#include "support/small_experiment.h"
#include "test_trials.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

using EarlierStore = TestFolder;

RunHeader small_header() {
  JobFacts job;
  job.roles = {"server"};
  job.reference = "server";
  return {document_of_run({{"name", "t"}}), "c0ffee", job, {{"fingerprint", "f1"}}, {}};
}

/// A store of version 6 has a row for each number of a round.
constexpr const char* kToVersion6 =
    "CREATE TABLE rows_of_rounds AS SELECT round.id AS round, n.value AS metric, a.value AS value "
    "FROM round JOIN metric_names ON metric_names.id = round.names "
    "JOIN json_each(metric_names.names) AS n JOIN json_each(round.amounts) AS a ON a.key = n.key; "
    "CREATE TABLE rows_of_phases AS SELECT phase.id AS phase, n.value AS metric, a.value AS value "
    "FROM phase JOIN metric_names ON metric_names.id = phase.names "
    "JOIN json_each(metric_names.names) AS n JOIN json_each(phase.amounts) AS a ON a.key = n.key; "
    "DROP VIEW round_metric; DROP VIEW phase_metric; "
    "ALTER TABLE rows_of_rounds RENAME TO round_metric; "
    "ALTER TABLE rows_of_phases RENAME TO phase_metric; "
    "ALTER TABLE round DROP COLUMN names; ALTER TABLE round DROP COLUMN amounts; "
    "ALTER TABLE phase DROP COLUMN names; ALTER TABLE phase DROP COLUMN amounts; "
    "DROP TABLE metric_names; PRAGMA user_version = 6; ";

/// A run of a measured and a profiled trial, made into one of store version 5, then `more`.
void make_earlier_run(const fs::path& directory, const std::string& more) {
  {
    Store store = Store::create(directory, small_header());
    store.add_trial(full_trial(1, 1, "a"));
    TrialData profile = full_trial(2, -1, "a");
    profile.kind = TrialKind::profile;
    profile.tracer = "recorder";
    store.add_trial(profile);
    store.add_limitation({"tracer_missing", "no gperftools", ""});
  }
  sqlite::Database(directory / "run.sqlite", sqlite::Mode::read_write)
      .execute(kToVersion6 + std::string("ALTER TABLE trial RENAME COLUMN variant TO arm; ") +
               "ALTER TABLE trial RENAME COLUMN profiler TO tracer; "
               "UPDATE role SET role = 'tree' WHERE role = 'all'; "
               "INSERT INTO role_metric SELECT id, 'heap_held_free_bytes', 7 FROM role; "
               "PRAGMA user_version = 5; " +
               more);
}

TEST_F(EarlierStore, ReadsRunOfSchema1WithoutWriting) {
  make_earlier_run(folder_ / "run", "");
  const std::string before = read_file(folder_ / "run/run.sqlite");
  const RunData run = read_run(folder_ / "run");
  EXPECT_EQ(run.trials.at(0).arm, "a");
  EXPECT_EQ(run.trials.at(0).roles.at(1).role, kTree);
  EXPECT_EQ(run.trials.at(0).roles.at(0).metrics.at("heap_free_bytes"), 7);
  EXPECT_TRUE(run.trials.at(0).roles.at(0).rounds.at(0).peak_rss_is_sampled);
  EXPECT_EQ(run.trials.at(0).roles.at(0).outside_rounds.size(), 2U);
  EXPECT_EQ(run.trials.at(1).tracer, "recorder");
  EXPECT_EQ(run.limitations.at(0).code, "profiler_missing");
  EXPECT_EQ(read_file(folder_ / "run/run.sqlite"), before);
}

TEST_F(EarlierStore, ReadsRunOfVersion6) {
  const TrialData trial = full_trial(1, 1, "a");
  Store::create(folder_ / "run", small_header()).add_trial(trial);
  sqlite::Database(folder_ / "run/run.sqlite", sqlite::Mode::read_write).execute(kToVersion6);
  const RunData run = read_run(folder_ / "run");
  const RoleData& server = run.trials.at(0).roles.at(0);
  ASSERT_EQ(server.rounds.size(), 2U);
  const RoundData& first = trial.roles[0].rounds[0];
  EXPECT_EQ(server.rounds[0].metrics, first.metrics);
  EXPECT_TRUE(server.rounds[1].metrics.empty());
  ASSERT_EQ(server.rounds[0].phases.size(), 2U);
  EXPECT_EQ(server.rounds[0].phases[0].metrics, first.phases[0].metrics);
}

TEST_F(EarlierStore, ReadsRunOfVersion2) {
  make_earlier_run(folder_ / "run",
                   "ALTER TABLE trial DROP COLUMN tracer; DROP TABLE trial_allocator; "
                   "DROP TABLE role_direction; DROP TABLE outside_rounds; "
                   "ALTER TABLE role DROP COLUMN peak_rss_is_sampled; "
                   "ALTER TABLE round DROP COLUMN peak_rss_is_sampled; "
                   "DELETE FROM run WHERE key = 'job'; PRAGMA user_version = 2");
  const RunData run = read_run(folder_ / "run");
  EXPECT_TRUE(run.job.roles.empty()) << "none was stored";
  EXPECT_EQ(run.trials.at(0).tracer, "");
  EXPECT_EQ(run.trials.at(1).tracer, "recorder");
  EXPECT_FALSE(run.trials.at(0).roles.at(0).rounds.at(0).peak_rss_is_sampled) << "not known then";
  EXPECT_TRUE(run.trials.at(0).roles.at(0).outside_rounds.empty());
}

TEST_F(EarlierStore, RefusesToResumeRunOfEarlierVersion) {
  make_earlier_run(folder_ / "run", "");
  const std::string before = read_file(folder_ / "run/run.sqlite");
  const Error error = error_of([&] { Store::resume(folder_ / "run", small_header()); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_STREQ(error.what(),
               "cannot resume: an earlier memduel started it (expected store version 7, found 5), "
               "and trials of two versions cannot be compared");
  EXPECT_EQ(error.where(), (folder_ / "run").string());
  EXPECT_THAT(error.advice(), testing::HasSubstr("finish it with the memduel that started it"));
  EXPECT_EQ(read_file(folder_ / "run/run.sqlite"), before);
}

// "all" would be the process and all processes.
TEST_F(EarlierStore, RefusesProcessCalledAllInRunOfSchema1) {
  make_earlier_run(folder_ / "run", "UPDATE role SET role = 'all' WHERE role = 'server'");
  const Error error = error_of([&] { read_run(folder_ / "run"); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_STREQ(error.what(),
               "a process has the role \"all\", which stands for all processes since schema 2");
}

}  // namespace
}  // namespace memduel
