#include "run/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <optional>
#include <vector>

#include "support/small_experiment.h"
#include "test_trials.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

RunHeader header() {
  JobFacts job;
  job.roles = {"coordinator", "worker-1", "worker-2"};
  job.groups = {{"worker", 2}};
  job.reference = "coordinator";
  return {document_of_run({{"name", "t"}}),
          "c0ffee",
          job,
          {{"cpu", "A"}, {"fingerprint", "f1"}},
          {{"/bin/x", "1234"}}};
}

/// Every field of a trial as JSON, so that two trials can be compared whole.
json all_of(const TrialData& trial) {
  json roles = json::array();
  for (const RoleData& role : trial.roles) {
    json rounds = json::array();
    for (const RoundData& round : role.rounds) {
      json phases = json::array();
      for (const PhaseData& phase : round.phases) {
        phases.push_back({phase.phase, phase.begin_ns, phase.end_ns, phase.metrics});
      }
      rounds.push_back({round.round, round.begin_ns, round.end_ns, round.metrics, phases,
                        round.peak_rss_is_sampled});
    }
    json outside = json::array();
    for (const OutsideRounds& one : role.outside_rounds)
      outside.push_back(
          {one.part, one.begin_ns, one.end_ns, one.peak_rss_bytes, one.peak_rss_is_sampled});
    json series = json::array();
    for (const Series& one : role.series) series.push_back({one.metric, one.t_ns, one.values});
    roles.push_back({role.role, role.metrics, rounds, series, role.exit_status.value_or(-1),
                     role.exit_signal.value_or(-1), outside, role.peak_rss_is_sampled});
  }
  return {trial.id,
          trial.block,
          trial.position,
          trial.arm,
          trial.kind,
          trial.status,
          trial.failure,
          trial.harness_fault,
          trial.begin_ns,
          trial.end_ns,
          trial.harness_cpu_seconds,
          trial.model_sha256.value_or("none"),
          trial.files,
          trial.allocators,
          roles};
}

using StoreTest = TestFolder;

TEST_F(StoreTest, EverythingWrittenIsReadBack) {
  const TrialData warmup = full_trial(1, 0, "original");
  const TrialData killed = killed_trial(2, 1, "optimized");
  {
    Store store = Store::create(folder_ / "run", header());
    store.add_trial(warmup);
    store.add_trial(killed);
    store.add_limitation({"no_cgroup", "no cgroup here", "run as root"});
    store.add_limitation({"no_cgroup", "no cgroup here", "run as root"});
    store.add_warning({"swap", "12 pages were swapped", ""});
    store.set_artifact_differences({{"original", "optimized", kFinalModel, false, 1e-7, {}},
                                    {"original", "optimized", "m", false, 1.0, 2.0}});
    store.set_artifact_differences({{"original", "optimized", kFinalModel, false, 2e-7, {}},
                                    {"original", "optimized", "global_model", false, 0.5, {}}});
  }
  const RunData run = read_run(folder_ / "run");
  EXPECT_EQ(written_document(run.config), written_document(header().config));
  EXPECT_EQ(run.config_sha256, "c0ffee");
  EXPECT_EQ(run.job, header().job);
  EXPECT_EQ(run.environment, header().environment);
  ASSERT_EQ(run.trials.size(), 2U);
  EXPECT_EQ(all_of(run.trials[0]), all_of(warmup));
  EXPECT_EQ(all_of(run.trials[1]), all_of(killed));
  ASSERT_EQ(run.limitations.size(), 1U);
  EXPECT_EQ(run.limitations[0].advice, "run as root");
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_EQ(run.warnings[0].code, "swap");
  ASSERT_EQ(run.artifact_differences.size(), 2U);
  EXPECT_EQ(run.artifact_differences[0].artifact, kFinalModel);
  EXPECT_EQ(run.artifact_differences[0].max_difference, 2e-7);
  EXPECT_EQ(run.artifact_differences[1].artifact, "global_model");
  EXPECT_EQ(run.artifact_differences[1].max_difference, 0.5);
  EXPECT_FALSE(run.artifact_differences[1].max_within_baseline);
  EXPECT_EQ(json::parse(read_file(folder_ / "run/config.json")), written_document(header().config));
}

TEST_F(StoreTest, ReadingWithoutSeriesLeavesOnlyThemOut) {
  Store store = Store::create(folder_ / "run", header());
  TrialData trial = full_trial(1, 1, "original");
  store.add_trial(trial);
  const RunData light = read_run(folder_ / "run", WithSeries::no);
  trial.roles[0].series.clear();
  EXPECT_EQ(all_of(light.trials.at(0)), all_of(trial));
}

TEST_F(StoreTest, ValuesThatAreNoNumbersStayWhatTheyAre) {
  Store store = Store::create(folder_ / "run", header());
  TrialData trial = full_trial(1, 1, "original");
  trial.roles[0].metrics = {{"train_loss", std::nan("")}, {"x_ratio", INFINITY}};
  store.add_trial(trial);
  const Metrics metrics = store.read().trials.at(0).roles.at(0).metrics;
  EXPECT_TRUE(std::isnan(metrics.at("train_loss")));
  EXPECT_EQ(metrics.at("x_ratio"), INFINITY);
}

TEST_F(StoreTest, ATrialIsAddedWholeOrNotAtAll) {
  Store store = Store::create(folder_ / "run", header());
  TrialData trial = full_trial(1, 1, "original");
  trial.roles[1].role = trial.roles[0].role;  // breaks a constraint after rows were written
  EXPECT_EQ(error_of([&] { store.add_trial(trial); }).code(), ExitCode::io);
  EXPECT_TRUE(store.read().trials.empty());
  store.add_trial(full_trial(1, 1, "original"));
  EXPECT_EQ(store.read().trials.size(), 1U);
}

TEST_F(StoreTest, ATrialMayGrow) {
  TrialData whole = full_trial(1, 1, "watch");
  ASSERT_GE(whole.roles.at(0).rounds.size(), 2U);
  TrialData first = whole;
  first.status = TrialStatus::failed;
  first.end_ns = whole.end_ns - 5;
  first.roles.resize(1);
  first.roles[0].rounds.edit().resize(1);
  first.roles[0].metrics = {{"peak_rss_bytes", 1}, {"gone_bytes", 2}};
  first.roles[0].series.clear();
  TrialData rest = whole;
  rest.roles[0].rounds.edit().erase(rest.roles[0].rounds.begin());
  Store store = Store::create(folder_ / "run", header());
  store.grow_trial(first);
  EXPECT_EQ(all_of(read_run(folder_ / "run").trials.at(0)), all_of(first));
  store.grow_trial(rest);
  const RunData read = read_run(folder_ / "run");
  ASSERT_EQ(read.trials.size(), 1U);
  EXPECT_EQ(all_of(read.trials[0]), all_of(whole));
}

/// Two trials that grew side by side, round by round, with different metrics in each round.
std::vector<TrialData> grown_side_by_side(Store& store) {
  std::vector<TrialData> whole = {full_trial(1, 1, "a"), full_trial(2, 1, "b")};
  for (TrialData& trial : whole) {
    for (RoleData& role : trial.roles) {
      role.rounds.clear();
      role.series.clear();
    }
  }
  for (int number = 1; number <= 30; ++number) {
    for (TrialData& trial : whole) {
      TrialData part = trial;
      for (std::size_t i = 0; i < trial.roles.size(); ++i) {
        RoundData round{number, number * 10, number * 10 + 9, {}, {}};
        for (int metric = 0; metric < number % 7; ++metric)
          if (number % 3 != metric) round.metrics["m" + std::to_string(metric)] = number + metric;
        round.phases = {{"aggregate", number * 10, number * 10 + 5, round.metrics}};
        part.roles[i].rounds = {round};
        trial.roles[i].rounds.push_back(std::move(round));
      }
      store.grow_trial(part);
    }
  }
  return whole;
}

TEST_F(StoreTest, ReadsRoundsOfTrialsThatGrewSideBySide) {
  const fs::path directory = folder_ / "50%25 of? a#run";
  Store store = Store::create(directory, header());
  const std::vector<TrialData> whole = grown_side_by_side(store);
  for (const RunData& read : {read_run(directory), store.read()}) {
    ASSERT_EQ(read.trials.size(), 2U);
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_EQ(all_of(read.trials[i]), all_of(whole[i]));
  }
}

TEST_F(StoreTest, ShowsTheNumbersOfRoundsAsRowsToOtherTools) {
  Store::create(folder_ / "run", header()).add_trial(full_trial(1, 1, "a"));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "run/run.sqlite").c_str(), &database), SQLITE_OK);
  std::string found;
  const auto add_row = [](void* text, int count, char** values, char**) {
    for (int i = 0; i < count; ++i)
      *static_cast<std::string*>(text) += std::string(values[i]) + ' ';
    return 0;
  };
  EXPECT_EQ(
      sqlite3_exec(database,
                   "SELECT round.round, metric, value FROM round_metric JOIN round ON "
                   "round.id = round_metric.round UNION ALL SELECT phase.phase, metric, value "
                   "FROM phase_metric JOIN phase ON phase.id = phase_metric.phase",
                   add_row, &found, nullptr),
      SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  EXPECT_EQ(found, "1 round_seconds 0.5 aggregate peak_rss_bytes 150000000 ");
}

TEST_F(StoreTest, ReadsTheLastCommittedStateDuringATransaction) {
  for (const char* mode : {"delete", "wal"}) {
    const fs::path directory = folder_ / mode;
    Store::create(directory, header());
    sqlite::Database writer(directory / "run.sqlite", sqlite::Mode::read_write);
    sqlite::Statement(writer, std::string("PRAGMA journal_mode = ") + mode).run();
    const TrialData trial = full_trial(1, 1, "a");
    Store::resume(directory, header()).add_trial(trial);
    writer.execute("BEGIN IMMEDIATE; DELETE FROM round; DELETE FROM role");
    const RunData read = read_run(directory);
    ASSERT_EQ(read.trials.size(), 1U) << mode;
    EXPECT_EQ(all_of(read.trials[0]), all_of(trial)) << mode;
  }
}

TEST_F(StoreTest, ADroppedBlockStaysOnFile) {
  Store store = Store::create(folder_ / "run", header());
  store.add_trial(full_trial(1, 1, "original"));
  store.add_trial(full_trial(2, 2, "original"));
  store.drop_block(1);
  const RunData run = store.read();
  EXPECT_EQ(run.trials[0].status, TrialStatus::dropped);
  EXPECT_EQ(run.trials[1].status, TrialStatus::ok);
}

TEST_F(StoreTest, ADirectoryThatHoldsARunIsRefused) {
  {
    Store::create(folder_ / "run", header());
  }
  const Error again = error_of([&] { Store::create(folder_ / "run", header()); });
  EXPECT_EQ(again.code(), ExitCode::usage);
  EXPECT_EQ(again.message(), (folder_ / "run").string() +
                                 ": the output directory contains another run (run.sqlite)\n  use "
                                 "another --out, or --resume to continue that run");
  fs::create_directories(folder_ / "other");
  write_file_atomically(folder_ / "other/config.json", "{}");
  EXPECT_EQ(error_of([&] { Store::create(folder_ / "other", header()); }).code(), ExitCode::usage);
}

TEST_F(StoreTest, AnOutputDirectoryThatCannotBeMadeIsAnIoError) {
  write_file_atomically(folder_ / "file", "");
  const Error error = error_of([&] { Store::create(folder_ / "file/run", header()); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.where(), (folder_ / "file/run").string());
  EXPECT_EQ(error_of([&] { Store::create(folder_ / "file", header()); }).code(), ExitCode::io);
  EXPECT_EQ(error_of([&] { Store::create("/proc/run", header()); }).code(), ExitCode::io);
}

/// Tries to use `directory` in another process; its exit status is the error's code.
int use_in_another_process(const fs::path& directory) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      Store::resume(directory, header());
    } catch (const Error& error) {
      ::_exit(std::string(error.what()).find("another memduel is using this run (pid ") == 0
                  ? static_cast<int>(error.code())
                  : 99);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST_F(StoreTest, ASecondProcessIsLockedOutUntilTheFirstEnds) {
  {
    Store store = Store::create(folder_ / "run", header());
    EXPECT_EQ(use_in_another_process(folder_ / "run"), static_cast<int>(ExitCode::usage));
    EXPECT_EQ(read_file(folder_ / "run/run.lock"), "pid " + std::to_string(::getpid()) + "\n");
    EXPECT_NO_THROW(read_run(folder_ / "run"));  // readers are not locked out
  }
  EXPECT_EQ(use_in_another_process(folder_ / "run"), 0);
}

TEST_F(StoreTest, ResumeNeedsTheSameConfigProgramsAndMachine) {
  {
    Store::create(folder_ / "run", header()).add_trial(full_trial(1, 0, "a"));
  }
  EXPECT_EQ(Store::resume(folder_ / "run", header()).read().trials.size(), 1U);
  const auto refusal = [&](const RunHeader& changed) {
    const Error error = error_of([&] { Store::resume(folder_ / "run", changed); });
    EXPECT_EQ(error.code(), ExitCode::usage);
    return std::string(error.what());
  };
  RunHeader config = header();
  config.config.name = "u";
  config.config_sha256 = "beef";
  EXPECT_EQ(refusal(config), "cannot resume: the config changed, first at /name");
  RunHeader gates = header();
  gates.config.default_gates = DefaultGatesDecide::never;
  gates.config_sha256 = "beef";
  EXPECT_EQ(refusal(gates),
            "cannot resume: it was started with other gates, which determine its length");
  RunHeader program = header();
  program.programs["/bin/x"] = "5678";
  EXPECT_EQ(refusal(program), "cannot resume: the program /bin/x changed");
  RunHeader machine = header();
  machine.environment["fingerprint"] = "f2";
  EXPECT_EQ(refusal(machine), "cannot resume: the machine or its settings changed");
  EXPECT_EQ(error_of([&] { Store::resume(folder_ / "none", header()); }).message(),
            (folder_ / "none").string() + ": found no run to resume\n  start it without --resume");
}

TEST_F(StoreTest, ResumeNamesTheNumberOfBlocksThatARunBeganWith) {
  RunHeader began = header();
  began.config.measure.repeats = 6;
  {
    Store::create(folder_ / "run", began).add_trial(full_trial(1, 0, "a"));
  }
  RunHeader other = began;
  other.config_sha256 = "beef";
  other.config.measure.repeats = 8;
  EXPECT_EQ(error_of([&] { Store::resume(folder_ / "run", other); }).message(),
            (folder_ / "run").string() +
                ": cannot resume: it was started with another --repeats\n  use --repeats 6");
  other.config.measure.repeats.reset();
  EXPECT_EQ(error_of([&] { Store::resume(folder_ / "run", other); }).advice(), "use --repeats 6");
}

TEST_F(StoreTest, ALimitationThatNoLongerHoldsIsForgotten) {
  Store store = Store::create(folder_ / "run", header());
  store.add_limitation({"profiler_missing", "no gperftools", ""});
  store.add_limitation({"other", "stays", ""});
  store.forget_notes("profiler_missing");
  ASSERT_EQ(store.read().limitations.size(), 1U);
  EXPECT_EQ(store.read().limitations[0].code, "other");
}

TEST_F(StoreTest, AnUnfinishedCreationIsNobodysRun) {
  fs::create_directories(folder_ / "run");
  write_file_atomically(folder_ / "run/run.sqlite.new", "half of a store");
  EXPECT_NO_THROW(Store::create(folder_ / "run", header()));
  EXPECT_FALSE(fs::exists(folder_ / "run/run.sqlite.new"));
}

class DamagedStore : public TestFolder {
 protected:
  /// The error of reading `bytes` as a run.sqlite; checks that resuming fails as well.
  Error reading(const std::string& bytes) {
    fs::create_directories(folder_ / "run");
    write_file_atomically(folder_ / "run/run.sqlite", bytes);
    EXPECT_EQ(error_of([&] { Store::resume(folder_ / "run", header()); }).code(), ExitCode::io);
    return error_of([&] { read_run(folder_ / "run"); });
  }

  std::string good_bytes() {
    Store store = Store::create(folder_ / "good", header());
    for (int id = 1; id <= 8; ++id) store.add_trial(full_trial(id, id, "a"));
    return read_file(folder_ / "good/run.sqlite");
  }
};

TEST_F(DamagedStore, GarbageIsRefused) {
  const Error error = reading(std::string(8192, 'x'));
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.where(), (folder_ / "run/run.sqlite").string());
  EXPECT_THAT(error.what(), testing::HasSubstr("file is not a database"));
}

TEST_F(DamagedStore, AnEmptyFileIsNoStore) {
  EXPECT_STREQ(reading("").what(), "not a run store of memduel");
}

TEST_F(DamagedStore, ATruncatedFileIsRefused) {
  const std::string bytes = good_bytes();
  ASSERT_GT(bytes.size(), 40000U);
  EXPECT_THAT(reading(bytes.substr(0, bytes.size() / 2)).what(),
              testing::HasSubstr("cannot read the run store: database disk image is malformed"));
}

TEST_F(DamagedStore, AnotherVersionIsRefused) {
  {
    Store::create(folder_ / "v", header());
    sqlite::Database database(folder_ / "v/run.sqlite", sqlite::Mode::read_write);
    database.execute("PRAGMA user_version = 99");
  }
  EXPECT_EQ(error_of([&] { read_run(folder_ / "v"); }).message(),
            (folder_ / "v/run.sqlite").string() +
                ": expected store version 1 to 7, found 99\n  read it with the memduel version "
                "that wrote it");
}

TEST_F(DamagedStore, UnknownWordsAndNumbersAreRefused) {
  const auto after = [&](const std::string& sql) {
    fs::remove_all(folder_ / "w");
    Store::create(folder_ / "w", header()).add_trial(full_trial(1, 1, "a"));
    sqlite::Database(folder_ / "w/run.sqlite", sqlite::Mode::read_write).execute(sql);
    return std::string(error_of([&] { read_run(folder_ / "w"); }).what());
  };
  EXPECT_EQ(after("UPDATE trial SET status = 'fine'"),
            "the run store is damaged: found \"fine\" for a trial");
  EXPECT_EQ(after("UPDATE trial SET block = 1 << 40"),
            "the run store is damaged: found 1099511627776 in column block");
  EXPECT_EQ(after("UPDATE series SET samples = x'00'"),
            "a series in the run store is damaged: it is not a zstd frame of known size");
  EXPECT_EQ(after("DELETE FROM run WHERE key = 'environment'"),
            "the run store is damaged: found no environment");
  EXPECT_EQ(after("UPDATE run SET value = '{' WHERE key = 'config'"),
            "the run store is damaged: config is not a JSON object");
}

TEST_F(DamagedStore, AFolderWithoutAStoreSaysSo) {
  const Error error = error_of([&] { read_run(folder_); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.message(), folder_.string() + ": not a run directory: run.sqlite is missing");
}

TEST_F(StoreTest, AFolderWithSomebodysFilesKeepsThemAndGetsNoneOfOurs) {
  write_file_atomically(folder_ / "report.html", "mine");
  const Error error = error_of([&] { Store::create(folder_, header()); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.message(), testing::HasSubstr("report.html"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  EXPECT_EQ(error_of([&] { Store::create("/", header()); }).code(), ExitCode::usage);
}

TEST_F(StoreTest, SymlinksInThePlaceOfItsFilesAreNotFollowed) {
  fs::create_directories(folder_ / "run");
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "run/logs");
  EXPECT_EQ(error_of([&] { Store::create(folder_ / "run", header()); }).code(), ExitCode::usage);
  fs::remove(folder_ / "run/logs");
  fs::create_symlink(folder_ / "elsewhere/lock", folder_ / "run/run.lock");
  EXPECT_EQ(error_of([&] { Store::create(folder_ / "run", header()); }).code(), ExitCode::usage);
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(StoreTest, TextThatIsNotUtf8IsMadeValidWhenItIsRead) {
  {
    Store store = Store::create(folder_ / "run", header());
    TrialData trial = full_trial(1, 0, "a");
    trial.failure = "last words: \xff\xfe";
    store.add_trial(trial);
    store.add_warning({"w", "caf\xe9", ""});
  }
  const RunData run = read_run(folder_ / "run");
  EXPECT_EQ(run.trials.at(0).failure, "last words: \xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(run.warnings.at(0).message, "caf\xEF\xBF\xBD");
}

using RunLockOf = TestFolder;

TEST_F(RunLockOf, ARunSaysThatItIsGoingOnAsLongAsItIsHeld) {
  EXPECT_FALSE(is_in_use(folder_)) << "no run has ever been here";
  std::optional<RunLock> lock(folder_);
  EXPECT_TRUE(is_in_use(folder_));
  EXPECT_TRUE(is_in_use(folder_)) << "looking takes nothing away";
  lock.reset();
  EXPECT_FALSE(is_in_use(folder_));
}

}  // namespace
}  // namespace memduel
