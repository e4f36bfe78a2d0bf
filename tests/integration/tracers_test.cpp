// Real programs under every tracer: through a run's profile trials and through `record --profiler`.
#include "external/tracers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "external/profile_names.h"
#include "support/memduel_program.h"
#include "util/command_line.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

const std::string kLeaks = MEMDUEL_RECORDER_PROGRAMS "/leaks_in_upload";
/// What leak_in_upload() of that program loses in each of its five rounds: 64 blocks of 4096 bytes,
/// a size class of every allocator.
constexpr double kRoundBytes = 64 * 4096;
constexpr int kRounds = 5;

std::vector<std::string> names_of_tracers(bool (*chosen)(const TracerEntry&)) {
  std::vector<std::string> names;
  for (const TracerEntry& entry : tracers())
    if (chosen(entry)) names.push_back(entry.name);
  return names;
}

/// Those that record C programs; memray_test.cpp has the others.
const std::vector<std::string> kTracers =
    names_of_tracers([](const auto& entry) { return !entry.records_python; });
const std::vector<std::string> kRoundTracers =
    names_of_tracers([](const auto& entry) { return entry.dumps_rounds; });

/// One run of a leaking program with a profile trial by every tracer, in a folder with a space in
/// its name.
class EveryTracer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    const std::string config = place_->file("duel.json", R"({
      "name": "backends", "baseline": "a",
      "workload": { "kind": "command", "processes": [ { "role": "command", "argv": [")" +
                                                             kLeaks + R"("] } ] },
      "variants": [ { "name": "a" }, { "name": "b", "env": { "MALLOC_CONF": "narenas:1", "LD_PRELOAD": "" } } ],
      "measure": { "repeats": 2 },
      "profile": { "profilers": )" + nlohmann::json(kTracers).dump() +
                                                             " } }");
    // Two trials decide no gate.
    run_ = memduel(*place_, {"run", config, "--out", directory().string(), "--verbose",
                             "--on-inconclusive", "pass"});
    ASSERT_EQ(run_.status, 0) << run_.err;
    results_ = results_in(directory());
  }
  static void TearDownTestSuite() { delete place_; }

  static fs::path directory() { return place_->path("a run"); }
  static const Workplace& place() { return *place_; }

  /// The tracer's trial of an arm.
  static nlohmann::json trial_of(const std::string& tracer, const std::string& arm) {
    for (const auto& trial : results_.at("trials"))
      if (trial.value("profiler", "") == tracer && trial.at("variant") == arm) return trial;
    ADD_FAILURE() << "no trial of " << arm << " under " << tracer;
    return {};
  }

  static fs::path profile_of(const std::string& tracer, const std::string& arm = "a",
                             std::optional<int> round = {}) {
    const ProfileName name = {trial_of(tracer, arm).at("id"), "command", 1, round, tracer};
    return directory() / "profiles" / to_text(name);
  }

  static inline Workplace* place_ = nullptr;
  static inline Finished run_;
  static inline nlohmann::json results_;
};

TEST_F(EveryTracer, SeesTheProgramEndWellWithAllItsRounds) {
  for (const std::string& tracer : kTracers) {
    for (const std::string arm : {"a", "b"}) {
      const auto trial = trial_of(tracer, arm);
      EXPECT_EQ(trial.at("kind"), "profile");
      EXPECT_EQ(trial.at("status"), "ok") << tracer;
      EXPECT_EQ(trial.at("roles").at(0).at("exit_status"), 0) << tracer;
      EXPECT_EQ(trial.at("roles").at(0).at("rounds").size(), kRounds) << tracer;
      EXPECT_TRUE(fs::exists(profile_of(tracer, arm))) << profile_of(tracer, arm);
    }
  }
  EXPECT_FALSE(fs::exists(directory() / "trials"));
}

TEST_F(EveryTracer, FindsTheLeakToTheByteAtTheEnd) {
  for (const std::string& tracer : kTracers)
    EXPECT_EQ(bytes_in(place(), profile_of(tracer), "live", "leak_in_upload"),
              kRounds * kRoundBytes)
        << tracer;
}

TEST_F(EveryTracer, FindsTheLeakAtThePeak) {
  for (const std::string tracer : {"recorder", "heaptrack"})
    EXPECT_EQ(bytes_in(place(), profile_of(tracer), "peak", "leak_in_upload"),
              kRounds * kRoundBytes)
        << tracer;
}

TEST_F(EveryTracer, DumpsGrowByWhatEachRoundLost) {
  for (const std::string& tracer : kRoundTracers)
    for (int round = 1; round <= kRounds; ++round)
      EXPECT_EQ(bytes_in(place(), profile_of(tracer, "b", round), "live", "leak_in_upload"),
                round * kRoundBytes)
          << tracer << ", round " << round;
}

TEST_F(EveryTracer, RoundsOfATrialAreComparedInOnePage) {
  const fs::path page = place().path("rounds.html");
  const Finished run = memduel(
      place(), {"flamegraph", profile_of("jemalloc", "a", 1).string(), "--diff",
                profile_of("jemalloc", "a", 5).string(), "--kind", "live", "-o", page.string()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(fs::exists(page));
}

TEST_F(EveryTracer, AgreesWithTheRecorder) {
  for (const std::string arm : {"a", "b"}) {
    const double recorder = bytes_in(place(), profile_of("recorder", arm), "allocated", "");
    EXPECT_NEAR(bytes_in(place(), profile_of("heaptrack", arm), "allocated", ""), recorder,
                0.005 * recorder);
    // The leak, the cache and what train() allocates.
    for (const std::string& tracer : kTracers)
      for (const char* function : {"leak_in_upload", "fill_cache", "train"})
        EXPECT_EQ(bytes_in(place(), profile_of(tracer, arm), "allocated", function) > 0, true)
            << tracer << ", " << function;
  }
}

TEST_F(EveryTracer, WhatItCostsStandsBesideWhatTheOthersCost) {
  std::vector<std::string> tracers;
  for (const auto& cost : results_.at("perturbation")) {
    EXPECT_GT(cost.at("wall_ratio"), 0) << cost;
    EXPECT_GT(cost.at("peak_rss_ratio"), 0) << cost;
    if (cost.at("variant") == "a") tracers.push_back(cost.at("profiler"));
  }
  EXPECT_EQ(tracers, kTracers);
  EXPECT_EQ(results_.at("perturbation").size(), 2 * kTracers.size());
  EXPECT_THAT(run_.out, AllOf(HasSubstr("Under the recorder, a took "),
                              HasSubstr("Under gperftools, a took ")));
}

TEST_F(EveryTracer, IsInTheReports) {
  const auto quoted = [](const fs::path& profile) {
    return quoted_command_line({profile.string()});
  };
  const Finished report =
      memduel(place(), {"report", directory().string(), "--format", "markdown"});
  for (const std::string& tracer : kTracers)
    EXPECT_THAT(report.out, HasSubstr("memduel flamegraph " + quoted(profile_of(tracer, "a")) +
                                      " --diff " + quoted(profile_of(tracer, "b"))));
  EXPECT_THAT(report.out,
              HasSubstr("memduel flamegraph " + quoted(profile_of("gperftools", "a", 1)) +
                        " --diff " + quoted(profile_of("gperftools", "a", 5))));
  const Finished table = memduel(place(), {"report", directory().string(), "--format", "csv"});
  EXPECT_THAT(table.out, AllOf(HasSubstr(",value,profiler\n"), HasSubstr(",heaptrack\n")));
}

TEST_F(EveryTracer, SaysWhoseAllocatorItRanOn) {
  std::vector<std::string> said;
  for (const auto& note : results_.at("limitations"))
    if (note.at("code") == "profiler_replaces_allocator") said.push_back(note.at("message"));
  EXPECT_THAT(said, ElementsAre(HasSubstr("tcmalloc"), HasSubstr("jemalloc")));
}

TEST_F(EveryTracer, ReplacesTheRecorderInItsProcess) {
  for (const std::string& tracer : kTracers) {
    const auto metrics = trial_of(tracer, "a").at("roles").at(0).at("metrics");
    EXPECT_EQ(metrics.contains("peak_heap_bytes"), tracer == "recorder") << tracer;
  }
}

class RecordBy : public testing::Test {
 protected:
  Finished record(const std::string& tracer, const std::vector<std::string>& command,
                  const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"record", "--profiler", tracer};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    fs::create_directories(place_.path("here"));
    return memduel(place_, words, place_.path("here"));
  }
  /// What was left, without the extension of the tracer's files; sorted.
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(place_.path("here")))
      found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  /// In all files of the whole run, so that wrappers count as well.
  [[nodiscard]] double leaked() const {
    double bytes = 0;
    for (const fs::path& file : files())
      if (file.filename().string().find(".round") == std::string::npos)
        bytes += bytes_in(place_, file, "live", "leak_in_upload", itself(file));
    return bytes;
  }
  /// The file of the recorder's first image, such as sh.812.mdp beside sh.812.2.mdp, stands for the
  /// largest one.
  static std::vector<std::string> itself(const fs::path& file) {
    const bool is_first = file.extension() == ".mdp" && fs::path(file.stem()).stem() == "sh";
    return is_first ? std::vector<std::string>{"--process", "1"} : std::vector<std::string>{};
  }

  Workplace place_;
};

TEST_F(RecordBy, EveryTracerLeavesFilesOfItsKindNamedForTheProcess) {
  for (const std::string& tracer : kTracers) {
    fs::remove_all(place_.path("here"));
    const Finished run = record(tracer, {kLeaks});
    EXPECT_EQ(run.status, 0) << run.err;
    ASSERT_THAT(files(), Not(IsEmpty())) << run.err;
    const std::string ending = "." + tracer_named(tracer).extension;
    for (const fs::path& file : files()) {
      const std::string name = file.filename().string();
      EXPECT_TRUE(name.starts_with("leaks_in_upload.") && name.ends_with(ending)) << name;
      EXPECT_THAT(run.err, HasSubstr(name));
      EXPECT_EQ(memduel(place_, {"summary", file.string()}).status, 0) << name;
    }
    const bool rounds =
        std::find(kRoundTracers.begin(), kRoundTracers.end(), tracer) != kRoundTracers.end();
    EXPECT_EQ(files().size(), rounds ? 1U + kRounds : 1U) << tracer;
  }
}

TEST_F(RecordBy, TheGivenNameIsKept) {
  const Finished run = record("gperftools", {kLeaks}, {"-o", "out.gperftools.heap"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(files(), AllOf(Contains(place_.path("here/out.gperftools.heap")),
                             Contains(place_.path("here/out.round5.gperftools.heap"))));
}

TEST_F(RecordBy, WhatAShellExecutesIsFollowed) {
  for (const std::string& tracer : kTracers) {
    fs::remove_all(place_.path("here"));
    std::vector<std::string> options;
    if (tracer_named(tracer).samples) options.emplace_back("--exact");
    // Two children, then a program in the place of the shell, by way of another.
    const Finished run =
        record(tracer, {"sh", "-c", kLeaks + "; " + kLeaks + "; exec env A=1 " + kLeaks}, options);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_GE(leaked(), 3 * kRounds * kRoundBytes) << tracer;
    EXPECT_LE(leaked(), 3 * kRounds * kRoundBytes) << tracer;
  }
}

TEST_F(RecordBy, TheCommandsStatusIsReturned) {
  for (const std::string& tracer : kTracers) {
    EXPECT_EQ(record(tracer, {"sh", "-c", "exit 7"}).status, 7) << tracer;
    EXPECT_EQ(record(tracer, {"sh", "-c", "kill -15 $$"}).status, 128 + 15) << tracer;
  }
}

TEST_F(RecordBy, AKilledProgramKeepsWhatItWroteBefore) {
  // Killed in its second round, by its own hand.
  const std::vector<std::string> command = {MEMDUEL_ACT, "round", "1",     "end", "1",
                                            "round",     "2",     "raise", "9"};
  const Finished dumps = record("gperftools", command);
  EXPECT_EQ(dumps.status, 128 + 9);
  EXPECT_THAT(dumps.err, HasSubstr("was killed"));
  ASSERT_EQ(files().size(), 1U);
  EXPECT_THAT(files()[0].string(), testing::EndsWith(".round1.gperftools.heap"));
  fs::remove_all(place_.path("here"));
  EXPECT_EQ(record("heaptrack", command).status, 128 + 9);
  for (const fs::path& file : files())
    EXPECT_EQ(memduel(place_, {"summary", file.string()}).status, 0) << file;
}

TEST_F(RecordBy, OptionsOfTheRecorderAreRefused) {
  for (const auto& [tracer, option] : {std::pair{"heaptrack", "--exact"},
                                       {"heaptrack", "--count"},
                                       {"gperftools", "--interval=1024"},
                                       {"jemalloc", "--alone"},
                                       {"gperftools", "--exact"},
                                       {"jemalloc", "--debuginfod"}}) {
    const Finished run = record(tracer, {"true"}, {option});
    EXPECT_EQ(run.status, 125);
    EXPECT_THAT(run.err, HasSubstr(" is not supported by " + std::string(tracer) + ": ")) << option;
  }
  const Finished odd = record("jemalloc", {"true"}, {"--interval=1000"});
  EXPECT_EQ(odd.status, 125);
  EXPECT_THAT(odd.err, HasSubstr("powers of two"));
  const Finished unknown = record("heaptrak", {"true"});
  EXPECT_EQ(unknown.status, 125);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"heaptrack\"?"));
  const Finished removed = record("massif", {"true"});
  EXPECT_EQ(removed.status, 125);
  EXPECT_THAT(removed.err, HasSubstr("use recorder, heaptrack, gperftools or jemalloc"));
}

/// memduel where the folder of heaptrack's library is empty.
Finished without_heaptrack(const Workplace& place, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"-m", "sh",
                                    "-c", "mount -t tmpfs none /usr/lib/heaptrack && exec \"$@\"",
                                    "sh", MEMDUEL_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Running(place, "/usr/bin/unshare", words).wait();
}

TEST(Tracers, OneThatIsMissingIsALimitationThatNamesItsPackage) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "missing", "baseline": "a",
    "workload": { "kind": "command", "processes": [ { "role": "command", "argv": [")" +
                                                         kLeaks + R"("] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "A": "1" } } ],
    "measure": { "repeats": 2 }, "profile": { "profilers": ["heaptrack"] } })");
  const Finished run = without_heaptrack(
      place, {"run", config, "--verbose", "--out", place.path("run"), "--on-inconclusive", "pass"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("heaptrack is not available"),
                             HasSubstr("apt-get install heaptrack")));
  const auto results = results_in(place.path("run"));
  EXPECT_EQ(results.at("variants").at(0).at("trials_ok"), 2);
  std::vector<std::string> codes;
  for (const auto& note : results.at("limitations")) codes.push_back(note.at("code"));
  EXPECT_THAT(codes, Contains("profiler_missing"));
  const Finished alone =
      without_heaptrack(place, {"record", "--profiler", "heaptrack", "--", kLeaks});
  EXPECT_EQ(alone.status, 125);
  EXPECT_THAT(alone.err, HasSubstr("apt-get install heaptrack"));
  const Finished listed = without_heaptrack(place, {"list", "profilers"});
  EXPECT_THAT(listed.out, HasSubstr("does not work here: libheaptrack_preload.so was not found"));
}

TEST(Tracers, ATruncatedDumpIsAWarningOfTheRun) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "truncated", "baseline": "a",
    "workload": { "kind": "command", "processes": [ { "role": "command", "argv": [")" MEMDUEL_MANY_STACKS
                                                     R"("] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "A": "1" } } ],
    "measure": { "repeats": 1 }, "profile": { "profilers": ["gperftools"] } })");
  const Finished run =
      memduel(place, {"run", config, "--out", place.path("run"), "--on-inconclusive", "pass"});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto results = results_in(place.path("run"));
  std::vector<std::string> warnings;
  for (const auto& note : results.at("warnings")) warnings.push_back(note.at("message"));
  EXPECT_THAT(warnings, Contains(AllOf(HasSubstr("a with gperftools"), HasSubstr("truncated"),
                                       HasSubstr("-command.gperftools.heap"))));
  // What was cut off is counted, without its stacks.
  for (const auto& entry : fs::directory_iterator(place.path("run/profiles"))) {
    const double named = bytes_in(place, entry.path(), "live", "go_on");
    const double cut = bytes_in(place, entry.path(), "live", "[cut off]");
    EXPECT_GT(named, 0) << entry.path();
    EXPECT_GT(cut, 0) << entry.path();
    EXPECT_GE(named + cut, 8192 * 64) << entry.path();
    EXPECT_LE(named + cut, 8192 * 64 + 256 * 1024) << entry.path();
  }
}

TEST(Tracers, TheirListAndThatOfMetersFitATerminal) {
  const Workplace place;
  const Finished listed = memduel(place, {"list", "profilers"});
  for (const std::string& tracer : kTracers) EXPECT_THAT(listed.out, HasSubstr(tracer + ": "));
  for (const Finished& run : {listed, memduel(place, {"list", "meters"})}) {
    EXPECT_EQ(run.status, 0);
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

}  // namespace
}  // namespace memduel
