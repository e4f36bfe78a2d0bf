// Two revisions of a project that is not ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "foreign_repository.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

constexpr double kMiBytes = 1024 * 1024;

/// compare --ref-a A --ref-b B in the repository, and more.
std::vector<std::string> duel_of(const Workplace& place, const std::string& a, const std::string& b,
                                 const std::vector<std::string>& more) {
  std::vector<std::string> words = {"compare", "--ref-a",        a, "--ref-b", b,
                                    "--out",   place.path("run")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Built without CMake, measured three times, by the heap alone: exact metrics need no more.
std::vector<std::string> quickly(std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"-S", "--build", ForeignRepository::quick_build(), "--repeats",
                                    "3",  "--gate",  "all.peak_heap_bytes<=+1%"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", "out/ledger", "1000"});
  return words;
}

void expect_no_worktree(const ForeignRepository& repository, const Workplace& place) {
  EXPECT_EQ(repository.git("worktree list | wc -l"), "1");
  EXPECT_FALSE(fs::exists(place.path("run/worktrees")));
}

TEST(Revisions, ALargerBufferFailsItsGateAloneAndIsNamedByItsFunction) {
  const Workplace place;
  const ForeignRepository repository(place);
  const std::string base = repository.commit("base");
  repository.set_buffer(12);
  const std::string head = repository.commit("larger buffer");
  const Finished run =
      memduel(place,
              duel_of(place, "HEAD~1", "main",
                      {"--build", "cmake -B build", "--build", "cmake --build build", "--gate",
                       "all.peak_heap_bytes<=+1%", "--gate", "all.allocation_count<=+1%",
                       "--max-minutes", "5", "--verbose", "--", "build/ledger", "1000"}),
              repository.path());
  EXPECT_EQ(run.status, 1) << run.err << run.out;
  const auto results = results_in(place.path("run"));
  ASSERT_EQ(results.at("gates").size(), 2U);
  EXPECT_EQ(results.at("gates").at(0).at("outcome"), "failed");
  EXPECT_EQ(results.at("gates").at(1).at("outcome"), "passed") << "as many allocations as before";
  const auto row = comparison(results, "all", "peak_heap_bytes");
  EXPECT_EQ(row.at("baseline"), base.substr(0, 12));
  EXPECT_EQ(row.at("candidate"), "main");
  EXPECT_EQ(row.at("candidate_median").get<double>() - row.at("baseline_median").get<double>(),
            4 * kMiBytes);

  const auto& where = results.at("differences").at(0);
  EXPECT_EQ(where.at("kind"), "peak");
  EXPECT_EQ(where.at("role"), "command");
  EXPECT_EQ(where.at("bytes"), 4 * kMiBytes);
  EXPECT_EQ(where.at("share"), 1);
  EXPECT_THAT(where.at("stack").get<std::vector<std::string>>(),
              Contains("ledger::Store::reserve_buffer()"));
  EXPECT_EQ(results.at("difference_totals").at(0).at("unmatched_share"), 0);
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("Why:     +4.00 MiB  ledger::Store::reserve_buffer (store.cpp:14), "),
                    HasSubstr("of the change in peak heap")));
  const Finished markdown =
      memduel(place, {"report", place.path("run").string(), "--format", "markdown"});
  EXPECT_THAT(markdown.out, HasSubstr("ledger::Store::reserve\\_buffer"));
  const auto& builds = results.at("environment").at("builds");
  EXPECT_NE(builds.at("main").at(0).at("libraries").at(0).at("build_id"),
            builds.at(base.substr(0, 12)).at(0).at("libraries").at(0).at("build_id"));
  EXPECT_THAT(results.at("environment").at("reproduce").get<std::string>(),
              AllOf(HasSubstr(base), HasSubstr(head), EndsWith("-- build/ledger 1000")));
  expect_no_worktree(repository, place);
}

TEST(Revisions, ThatAreEqualPassWithoutABuild) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  const Finished run = memduel(place, duel_of(place, "main", "HEAD", quickly()), repository.path());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("Nothing was built differently: main ("),
                             Not(HasSubstr("was not checked"))));
  const Finished ceiling = memduel(
      place, duel_of(place, "main", "HEAD", quickly({"--gate", "all.peak_rss_bytes<=1MiB"})),
      repository.path());
  EXPECT_EQ(ceiling.status, 0);
  EXPECT_THAT(ceiling.out, HasSubstr("all.peak_rss_bytes<=1MiB was not checked"));
  EXPECT_FALSE(fs::exists(place.path("run")));
}

TEST(Revisions, ThatDifferInDocumentationAreMeasuredWithAWarning) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  repository.write("README.md", "# ledger, explained better\n");
  static_cast<void>(repository.commit("docs"));
  // The two files differ: their debug information names the directory that they were built in. The
  // time of the build is in them, too.
  const Finished run =
      memduel(place, duel_of(place, "HEAD~1", "HEAD", quickly()), repository.path());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(results_in(place.path("run")).at("warnings").dump(),
              AllOf(HasSubstr("are the same in both builds: out/ledger, build id"),
                    HasSubstr("libledger_store.so")));
  expect_no_worktree(repository, place);
}

TEST(Revisions, APluginThatTheProgramLoadsByItselfIsMeasured) {
  const Workplace place;
  const ForeignRepository repository(place);
  const auto plugin = [](int mebibytes) {
    return "extern \"C\" int work() {\n  volatile char* kept = new char[" +
           std::to_string(mebibytes) + " << 20]();\n  return kept[0];\n}\n";
  };
  repository.write("host.cpp", R"(#include <dlfcn.h>
int main() {
  void* plugin = dlopen("out/plug.so", RTLD_NOW);
  return plugin == nullptr ? 1 : reinterpret_cast<int (*)()>(dlsym(plugin, "work"))();
}
)");
  repository.write("plug.cpp", plugin(8));
  static_cast<void>(repository.commit("base"));
  repository.write("plug.cpp", plugin(64));
  static_cast<void>(repository.commit("larger plugin"));
  const std::string build =
      "mkdir out && c++ -shared -fPIC -o out/plug.so plug.cpp && c++ -o out/host host.cpp -ldl";
  const Finished run = memduel(place,
                               duel_of(place, "HEAD~1", "HEAD",
                                       {"-S", "--build", build, "--repeats", "3", "--gate",
                                        "all.peak_heap_bytes<=+1%", "--", "out/host"}),
                               repository.path());
  EXPECT_EQ(run.status, 1) << run.err << run.out;
  EXPECT_EQ(comparison(results_in(place.path("run")), "all", "peak_heap_bytes").at("verdict"),
            "regressed");
}

TEST(Revisions, OfAConfigEachRunInTheirOwnWorktree) {
  const Workplace place;
  const ForeignRepository repository(place);
  repository.write("job.json", R"({
    "name": "job", "baseline": "one", "workload": { "kind": "command", "processes": [
      { "role": "ledger", "argv": ["out/ledger", "10"] },
      { "role": "reader", "argv": ["sh", "-c", "exit `cat status`"] } ] },
    "variants": [ { "name": "one" } ] })");
  repository.write("status", "0\n");
  static_cast<void>(repository.commit("base"));
  repository.set_buffer(6);
  repository.write("status", "7\n");
  static_cast<void>(repository.commit("what the reader reads"));
  const Finished run =
      memduel(place,
              duel_of(place, "HEAD~1", "HEAD",
                      {"-S", "--build", ForeignRepository::quick_build(), "--repeats", "3",
                       "--gate", "all.peak_heap_bytes<=+1%", "job.json"}),
              repository.path());
  EXPECT_EQ(run.status, 1) << run.err << "\nonly the candidate's reader fails";
  const auto results = results_in(place.path("run"));
  const auto& baseline = results.at("variants").at(0).at("name");
  for (const auto& trial : results.at("trials"))
    EXPECT_EQ(trial.at("status"), trial.at("variant") == baseline ? "ok" : "failed");
}

TEST(Revisions, ABaselineThatDoesNotBuildIsNeverAPass) {
  const Workplace place;
  const ForeignRepository repository(place);
  repository.write("store.cpp", "#error the baseline is broken\n");
  static_cast<void>(repository.commit("base"));
  fs::copy_file(MEMDUEL_FOREIGN "/store.cpp", repository.path("store.cpp"),
                fs::copy_options::overwrite_existing);
  static_cast<void>(repository.commit("repaired"));
  const Finished run =
      memduel(place, duel_of(place, "HEAD~1", "HEAD", quickly()), repository.path());
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("the baseline HEAD~1 ("), HasSubstr("does not build"),
                    HasSubstr("#error the baseline is broken"), HasSubstr("logs/build-a.log")));
  expect_no_worktree(repository, place);

  const Finished other = memduel(place,
                                 {"compare", "--ref-a", "HEAD", "--ref-b", "HEAD~1", "--out",
                                  place.path("other"), "--build", "c++ store.cpp", "--", "a.out"},
                                 repository.path());
  EXPECT_EQ(other.status, 3);
  EXPECT_THAT(other.err, HasSubstr("the baseline HEAD ("));
}

TEST(Revisions, AreBuiltByTheShellThatIsNamed) {
  const Workplace place;
  const ForeignRepository repository(place);
  repository.write("note", "1\n");
  static_cast<void>(repository.commit("base"));
  repository.write("note", "2\n");
  static_cast<void>(repository.commit("next"));
  const Finished run =
      memduel(place,
              duel_of(place, "HEAD~1", "HEAD",
                      {"--shell", "bash -e", "--build", "echo by=$0; false; true", "--", "x"}),
              repository.path());
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("ended with status 1"), HasSubstr("by=bash")));
}

TEST(Revisions, TakeKeptPathsFromTheCandidate) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  repository.set_buffer(12);
  repository.write("notes/new.txt", "x");
  static_cast<void>(repository.commit("larger buffer"));
  const Finished kept = memduel(
      place, duel_of(place, "HEAD~1", "HEAD", quickly({"--keep", "store.cpp", "--keep", "notes"})),
      repository.path());
  EXPECT_EQ(kept.status, 0) << kept.err;
  EXPECT_THAT(results_in(place.path("run")).at("warnings").dump(),
              HasSubstr("builds_have_equal_code"));
  fs::remove_all(place.path("run"));
  const Finished missing = memduel(
      place, duel_of(place, "HEAD~1", "HEAD", quickly({"--keep", "stor.cpp"})), repository.path());
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("stor.cpp"));
  expect_no_worktree(repository, place);
}

TEST(Revisions, AFaultyGateIsToldBeforeAnythingIsBuilt) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  repository.set_buffer(12);
  static_cast<void>(repository.commit("larger buffer"));
  const Finished run = memduel(
      place,
      duel_of(place, "HEAD~1", "HEAD",
              {"--build", "false", "--gate", "all.peak_heap_byte<=+1%", "--", "out/ledger"}),
      repository.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("peak_heap_bytes"));
  const Finished equal =
      memduel(place,
              duel_of(place, "HEAD", "HEAD",
                      {"--build", "false", "--gate", "all.peak_heap_byte<=+1%", "--", "x"}),
              repository.path());
  EXPECT_EQ(equal.status, 2) << "also where nothing would be built";
}

/// The message of a comparison of two revisions that is refused before its build, which would fail.
std::string refused_before_building(const Workplace& place, const ForeignRepository& repository,
                                    const std::vector<std::string>& words,
                                    const fs::path& directory) {
  std::vector<std::string> all = {"--build", "false"};
  all.insert(all.end(), words.begin(), words.end());
  const Finished run = memduel(place, duel_of(place, "HEAD~1", "HEAD", all), directory);
  EXPECT_EQ(run.status, 2) << run.err;
  expect_no_worktree(repository, place);
  return run.err;
}

/// One that names nothing which the worktrees lack comes to its build.
void expect_build(const Workplace& place, const std::vector<std::string>& words,
                  const fs::path& directory) {
  std::vector<std::string> all = {"--build", "false"};
  all.insert(all.end(), words.begin(), words.end());
  const Finished run = memduel(place, duel_of(place, "HEAD~1", "HEAD", all), directory);
  EXPECT_THAT(run.err, HasSubstr("does not build")) << words.back();
  fs::remove_all(place.path("run"));
}

TEST(Revisions, AnArgumentThatNoWorktreeHasIsRefusedBeforeTheyAreBuilt) {
  const Workplace place;
  const ForeignRepository repository(place);
  repository.write("data/old.txt", "x");
  repository.write(".gitignore", "out/\n");
  static_cast<void>(repository.commit("base"));
  repository.set_buffer(12);
  repository.write("data/new.txt", "x");
  static_cast<void>(repository.commit("larger buffer"));
  repository.write("data/local.txt", "x");
  repository.write("out/made.txt", "x");
  const fs::path root = repository.path();
  write_file_atomically(root.parent_path() / "outside.txt", "x");
  const auto refusal = [&](const std::vector<std::string>& words, const fs::path& directory) {
    return refused_before_building(place, repository, words, directory);
  };
  EXPECT_EQ(refusal({"--", "out/ledger", "../outside.txt"}, root),
            "memduel: -- out/ledger: found the file \"../outside.txt\", which no worktree of a "
            "revision can reach\n  the program starts in the root of its own worktree: write " +
                (root.parent_path() / "outside.txt").string() + "\n");
  EXPECT_THAT(refusal({"--", "out/ledger", "--load=../outside.txt"}, root),
              HasSubstr("found the file \"../outside.txt\""));
  EXPECT_THAT(refusal({"--", "out/ledger", "data/local.txt"}, root),
              AllOf(HasSubstr("which the revision HEAD ("),
                    HasSubstr("write " + (root / "data/local.txt").string())));
  EXPECT_THAT(refusal({"--", "out/ledger", "data/new.txt"}, root),
              AllOf(HasSubstr("which the revision HEAD~1 ("), HasSubstr("--keep data/new.txt")));
  EXPECT_THAT(refusal({"--", "out/ledger", "old.txt"}, root / "data"),
              HasSubstr("write data/old.txt\n"));
  expect_build(place, {"--", "out/ledger", "data/old.txt"}, root);
  expect_build(place, {"--keep", "data", "--", "out/ledger", "data/new.txt"}, root);
  expect_build(place, {"--", "out/ledger", "out/made.txt"}, root);
  expect_build(place, {"--", "out/ledger", "data"}, root);
  expect_build(place, {"--", "out/ledger", "nothing/here.txt"}, root);
  expect_build(place, {"--", "out/ledger", (root / "data/local.txt").string()}, root);
}

TEST(Revisions, WhatAConfigNamesIsLookedForBeforeTheyAreBuilt) {
  const Workplace place;
  const ForeignRepository repository(place);
  const auto config = [](const std::string& argument, const std::string& prepare) {
    return R"({"name": "c", "baseline": "a", "variants": [{"name": "a"}],
      "workload": {"kind": "command", "prepare": [[")" +
           prepare + R"("]], "processes": [
        {"role": "srv", "argv": ["../out/ledger", ")" +
           argument + R"("]}]}})";
  };
  repository.write("bench/duel.json", config("../../outside.txt", "true"));
  repository.write("bench/prepared.json", config("1000", "./no-such-step"));
  static_cast<void>(repository.commit("base"));
  repository.set_buffer(12);
  static_cast<void>(repository.commit("larger buffer"));
  const fs::path root = repository.path();
  write_file_atomically(root.parent_path() / "outside.txt", "x");
  EXPECT_THAT(refused_before_building(place, repository, {"--", "bench/duel.json"}, root),
              AllOf(HasSubstr("bench/duel.json, role srv: found the file \"../../outside.txt\""),
                    HasSubstr("starts in the folder bench of its own worktree")));
  EXPECT_THAT(refused_before_building(place, repository, {"--", "bench/prepared.json"}, root),
              HasSubstr("no program \"./no-such-step\""));
}

TEST(Revisions, AreNamedWhenTheyCannotBeFound) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  const Finished unknown =
      memduel(place, duel_of(place, "mian", "HEAD", quickly()), repository.path());
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("mian"), HasSubstr("git fetch --unshallow")));
  const Finished outside =
      memduel(place, duel_of(place, "HEAD", "HEAD~1", quickly()), place.path("."));
  EXPECT_EQ(outside.status, 2);
  EXPECT_THAT(outside.err, HasSubstr("not a git repository"));
}

TEST(Revisions, AProgramThatTheBaselineLacksIsNotMeasured) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  repository.write("new.cpp", "int main() {}\n");
  static_cast<void>(repository.commit("a new program"));
  const std::string build = "test ! -e new.cpp || c++ -o fresh new.cpp";
  const auto words = [&](const std::string& program) {
    return std::vector<std::string>{"-S", "--build", build, "--", program};
  };
  const Finished absent =
      memduel(place, duel_of(place, "HEAD~1", "HEAD", words("fresh")), repository.path());
  EXPECT_EQ(absent.status, 3);
  EXPECT_THAT(absent.err, HasSubstr("found no executable \"fresh\""));
  const Finished misspelt =
      memduel(place, duel_of(place, "HEAD~1", "HEAD", words("fersh")), repository.path());
  EXPECT_EQ(misspelt.status, 2) << "in neither";
}

/// The process id in a file that a build writes.
pid_t pid_in(const fs::path& file) {
  for (int i = 0; i < 1000 && (!fs::exists(file) || read_file(file).empty()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return std::stoi(read_file(file));
}

bool gone(pid_t pid) {
  for (int i = 0; i < 500 && ::kill(pid, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return ::kill(pid, 0) != 0;
}

TEST(Revisions, LeaveNoWorktreeAndNoBuildWhenASignalComes) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  repository.set_buffer(12);
  static_cast<void>(repository.commit("larger buffer"));
  const std::string pid_file = place.path("pid");
  for (const auto& [number, status] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    fs::remove(pid_file);
    const std::string build = "sleep 300 & echo $! > " + pid_file + "; wait";
    Running run(place,
                duel_of(place, "HEAD~1", "HEAD", {"-S", "--build", build, "--", "out/ledger"}),
                repository.path());
    const pid_t builder = pid_in(pid_file);
    EXPECT_TRUE(fs::exists(place.path("run/worktrees/b/store.cpp")));
    run.signal(number);
    const Finished finished = run.wait();
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_TRUE(gone(builder));
    expect_no_worktree(repository, place);
  }
}

TEST(Revisions, LeaveNoWorktreeWhenASignalEndsTheTrials) {
  const Workplace place;
  const ForeignRepository repository(place);
  repository.write("job", "#!/bin/sh\necho started > \"$1\"\nsleep 300\n");
  static_cast<void>(repository.git("update-index --add --chmod=+x job"));
  static_cast<void>(repository.commit("base"));
  repository.write("job", "#!/bin/sh\necho began > \"$1\"\nsleep 300\n");
  static_cast<void>(repository.commit("another"));
  const std::string started = place.path("started");
  Running run(place,
              duel_of(place, "HEAD~1", "HEAD", {"--build", "chmod +x job", "--", "job", started}),
              repository.path());
  for (int i = 0; i < 1000 && !fs::exists(started); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  run.signal(SIGINT);
  const Finished finished = run.wait();
  EXPECT_EQ(finished.status, 130) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("--resume"));
  expect_no_worktree(repository, place);
}

}  // namespace
}  // namespace memduel
