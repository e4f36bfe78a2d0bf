#include "state_runs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "model/run_directory.h"
#include "run/store.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::time_t kNow = 2'000'000'000;
constexpr std::time_t kDay = 86'400;

class StateRuns : public testing::Test {
 protected:
  StateRuns() {
    home_ = fs::path(testing::TempDir()) / ("memduel_state_" + std::to_string(::getpid()));
    fs::create_directories(home_);
    ::setenv("XDG_STATE_HOME", home_.c_str(), 1);
  }
  ~StateRuns() override {
    ::unsetenv("XDG_STATE_HOME");
    fs::remove_all(home_);
  }

  [[nodiscard]] fs::path runs() const { return home_ / "memduel" / "runs"; }

  /// A directory that has a run, whose last trial was stored `days` before kNow.
  fs::path add_run(const std::string& name, int days = 0) const {
    const fs::path directory = runs() / name;
    fs::create_directories(directory / "logs");
    write_file_atomically(directory / "logs" / "1.log", "text");
    write_file_atomically(directory / kStoreFile, "");
    set_age(directory / kStoreFile, days);
    return directory;
  }
  static void set_age(const fs::path& file, int days) {
    const timespec time{kNow - days * kDay, 0};
    const timespec times[] = {time, time};
    ::utimensat(AT_FDCWD, file.c_str(), times, 0);
  }
  static std::vector<std::string> names(const std::vector<StateRun>& runs) {
    std::vector<std::string> names;
    for (const StateRun& run : runs) names.push_back(run.name());
    return names;
  }

  fs::path home_;
};

TEST_F(StateRuns, AreInTheStateDirectory) {
  EXPECT_EQ(runs_directory(), runs());
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ::setenv("HOME", "/home/one", 1);
  ::setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(runs_directory(), "/home/one/.local/state/memduel/runs");
  ::unsetenv("XDG_STATE_HOME");
  EXPECT_EQ(runs_directory(), "/home/one/.local/state/memduel/runs");
  for (const char* no_home : {"", "relative"}) {
    ::setenv("HOME", no_home, 1);
    try {
      runs_directory();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.advice(), HasSubstr("--out DIR"));
    }
  }
  ::setenv("HOME", home.c_str(), 1);
}

TEST_F(StateRuns, GetADirectoryEachThatOnlyTheirUserReads) {
  const fs::path first = make_run_directory("t/../x");
  const fs::path second = make_run_directory("t/../x");
  EXPECT_NE(first, second);
  EXPECT_EQ(first.parent_path(), runs());
  for (const fs::path& directory : {first, home_ / "memduel", runs()})
    EXPECT_EQ(fs::status(directory).permissions(), fs::perms::owner_all) << directory;
}

TEST_F(StateRuns, ReportADirectoryThatCannotBeMade) {
  write_file_atomically(home_ / "memduel", "a file");
  try {
    make_run_directory("t");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.where(), StartsWith(home_.string()));
    EXPECT_THAT(error.advice(), HasSubstr("--out DIR"));
  }
}

TEST_F(StateRuns, AreFoundByTheirNames) {
  const fs::path run = add_run("t-1");
  const fs::path of_suite = add_run("suite-1/quickstart");
  EXPECT_EQ(find_run("t-1"), run);
  EXPECT_EQ(find_run("suite-1/quickstart"), of_suite);
  for (const char* other : {"", ".", "..", "t-2", "suite-1", "../runs/t-1", "/t-1"})
    EXPECT_EQ(find_run(other), other);
}

TEST_F(StateRuns, DoNotHideAPathOfTheSameName) {
  add_run("t-1");
  const fs::path here = fs::current_path();
  fs::current_path(home_);
  write_file_atomically("t-1", "");
  EXPECT_EQ(find_run("t-1"), "t-1");
  fs::current_path(here);
}

TEST_F(StateRuns, AreListedNewestFirst) {
  EXPECT_THAT(runs_in(runs()), IsEmpty());
  add_run("old", 30);
  add_run("new", 1);
  add_run("suite/a", 3);
  add_run("suite/b", 2);
  write_file_atomically(runs() / "suite" / kSuiteFile, "{}");
  set_age(runs() / "suite" / kSuiteFile, 4);
  fs::create_directories(runs() / "no-run");
  fs::create_directory_symlink(runs() / "new", runs() / "link");
  const std::vector<StateRun> found = runs_in(runs());
  EXPECT_THAT(names(found), ElementsAre("new", "suite", "old"));
  EXPECT_THAT(found[1].runs, ElementsAre(runs() / "suite/a", runs() / "suite/b"));
}

TEST_F(StateRuns, ArePrunedByNumberAndByAge) {
  for (const int days : {1, 10, 20, 40}) add_run("t-" + std::to_string(days), days);
  const auto pruned = [&](const PruneRule& rule) {
    return names(runs_to_prune(runs_in(runs()), rule, kNow));
  };
  EXPECT_THAT(pruned({3, {}}), ElementsAre("t-40"));
  EXPECT_THAT(pruned({0, {}}), ElementsAre("t-1", "t-10", "t-20", "t-40"));
  EXPECT_THAT(pruned({9, {}}), IsEmpty());
  EXPECT_THAT(pruned({{}, 10 * kDay}), ElementsAre("t-20", "t-40")) << "not what is as old";
  EXPECT_THAT(pruned({3, 10 * kDay}), ElementsAre("t-40"));
  EXPECT_THAT(pruned({1, 30 * kDay}), ElementsAre("t-40"));
}

TEST_F(StateRuns, AreDeletedWithoutWhatLinksInThemLeadTo) {
  const fs::path run = add_run("t");
  write_file_atomically(home_ / "mine", "mine");
  fs::create_directories(home_ / "folder");
  write_file_atomically(home_ / "folder" / "mine", "mine");
  fs::create_symlink(home_ / "mine", run / "link");
  fs::create_directory_symlink(home_ / "folder", run / "logs" / "folder");
  EXPECT_TRUE(delete_run(runs_in(runs()).at(0)));
  EXPECT_FALSE(fs::exists(run));
  EXPECT_TRUE(fs::exists(home_ / "mine"));
  EXPECT_TRUE(fs::exists(home_ / "folder" / "mine"));
}

TEST_F(StateRuns, AreNotDeletedIfALinkTakesTheirPlace) {
  const fs::path run = add_run("t");
  const StateRun found = runs_in(runs()).at(0);
  fs::rename(run, home_ / "elsewhere");
  fs::create_directory_symlink(home_ / "elsewhere", run);
  EXPECT_THROW(delete_run(found), Error);
  EXPECT_TRUE(has_run(home_ / "elsewhere"));
}

TEST_F(StateRuns, AreNotDeletedWhileTheyAreMeasured) {
  const fs::path run = add_run("t");
  const fs::path of_suite = add_run("suite/a");
  write_file_atomically(runs() / "suite" / kSuiteFile, "{}");
  const RunLock lock(run);
  const RunLock lock_of_part(of_suite);
  for (const StateRun& each : runs_in(runs())) {
    EXPECT_TRUE(is_running(each));
    EXPECT_FALSE(delete_run(each));
  }
  EXPECT_TRUE(has_run(run));
  EXPECT_TRUE(has_run(of_suite));
}

TEST_F(StateRuns, AreNotDeletedWhileTheyAreClaimed) {
  const fs::path run = add_run("t");
  claim_run(run);  // this process keeps it
  EXPECT_FALSE(delete_run(runs_in(runs()).at(0)));
  EXPECT_TRUE(has_run(run));
}

TEST_F(StateRuns, CannotBeClaimedWhileTheyAreDeleted) {
  const fs::path run = add_run("t");
  const Descriptor deleting(::open(run.c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(deleting.get(), LOCK_EX), 0);
  EXPECT_THROW(claim_run(run), Error);
}

TEST_F(StateRuns, TakeTheirShardsOfSlurmWithThem) {
  const fs::path run = add_run("t");
  const fs::path shards = runs() / (std::string("t") + kShardsSuffix);
  fs::create_directories(shards);
  write_file_atomically(shards / kSlurmFile, "{}");
  EXPECT_TRUE(delete_run(runs_in(runs()).at(0)));
  EXPECT_TRUE(fs::is_empty(runs()));
}

TEST(ParseAge, TakesANumberAndAUnit) {
  EXPECT_EQ(parse_age("90m"), 5400);
  EXPECT_EQ(parse_age("12h"), 43'200);
  EXPECT_EQ(parse_age("30d"), 30 * kDay);
  EXPECT_EQ(parse_age("0w"), 0);
  for (const char* wrong : {"", "30", "d", "-1d", "30 d", "30D", "1.5d", "99999999999999999999d"})
    EXPECT_THROW(parse_age(wrong), Error) << wrong;
}

}  // namespace
}  // namespace memduel::cli
