// The meter heap on real programs: exact heap bytes of commands, nothing to link or to mark.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "support/memduel_program.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr double kMiB = 1024 * 1024;
/// What a C++ program allocates besides: libstdc++'s pool for exceptions (72 KiB), little else.
constexpr double kOther = 128 * 1024;

double metric_of(const nlohmann::json& results, const std::string& arm, const std::string& role,
                 const std::string& metric) {
  for (const auto& trial : results.at("trials")) {
    if (trial.at("variant") != arm || trial.at("kind") != "measure") continue;
    for (const auto& each : trial.at("roles"))
      if (each.at("role") == role) return each.at("metrics").at(metric);
  }
  return -1;
}

TEST(HeapMeter, CountsACommandToTheByteAndGatesIt) {
  const Workplace place;
  const Finished run =
      memduel(place, {"compare", "--a", MEMDUEL_HOG " 20", "--b", MEMDUEL_HOG " 30", "--repeats",
                      "5", "--gate", "default", "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.err;
  const auto results = results_in(place.path("run"));
  const auto row = comparison(results, "all", "peak_heap_and_mapped_bytes");
  EXPECT_EQ(row.at("verdict"), "regressed");
  EXPECT_TRUE(row.at("gate")) << "a default gate of commands";
  EXPECT_EQ(comparison(results, "all", "peak_heap_bytes").at("verdict"), "regressed");
  for (const auto& [arm, mib] : {std::pair{"a", 20.0}, {"b", 30.0}}) {
    const double peak = metric_of(results, arm, "command", "peak_heap_bytes");
    EXPECT_GE(peak, mib * kMiB);
    EXPECT_LE(peak, mib * kMiB + kOther);
    EXPECT_EQ(metric_of(results, arm, "all", "peak_heap_bytes"), peak);
    EXPECT_GE(metric_of(results, arm, "command", "allocation_count"), 1);
  }
}

/// What takes a line of stat for the whole takes such a process for one that has ended.
TEST(HeapMeter, CountsAProcessWhoseNameHasANewline) {
  const Workplace place;
  const std::string script = place.file("named.py",
                                        "import time\n"
                                        "open('/proc/self/comm', 'w').write('a\\nb')\n"
                                        "kept = [bytes(100000) for _ in range(200)]\n"
                                        "time.sleep(0.3)\n");
  const std::string command = "/usr/bin/python3 " + script;
  const Finished run =
      memduel(place, {"compare", "--a", command, "--b", command + " other", "--repeats", "2",
                      "--set", "profile.trials=0", "--out", place.path("run")});
  EXPECT_EQ(run.status, 0) << run.err;
  const double end = metric_of(results_in(place.path("run")), "a", "command", "end_heap_bytes");
  EXPECT_GE(end, 200 * 100000);
  EXPECT_LE(end, 200 * 100000 + 2 * kMiB) << "the interpreter's own";
}

/// The median of a metric of the whole job.
double median_in(const nlohmann::json& row, const char* arm) {
  return row.at(std::string(arm) + "_median").get<double>();
}

// CPython's small objects lie in arenas that it maps. With these numbers the last arena is half
// full: how many objects an arena takes depends on where the kernel puts it.
TEST(HeapMeter, CountsPythonsSmallObjectsExactly) {
  const Workplace place;
  const std::string script =
      place.file("objects.py",
                 "import sys\n"
                 "kept = [bytes(20 + i % 50) for i in range(int(sys.argv[1]))]\n");
  const Finished run =
      memduel(place, {"compare", "--a", "/usr/bin/python3 " + script + " 309000", "--b",
                      "/usr/bin/python3 " + script + " 369000", "--repeats", "5", "--gate",
                      "default", "--set", "profile.trials=0", "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.out;
  const auto row = comparison(results_in(place.path("run")), "all", "peak_heap_and_mapped_bytes");
  EXPECT_EQ(row.at("verdict"), "regressed");
  EXPECT_TRUE(row.at("identical"));
  // 33 bytes beside their own, rounded up to 16, are 85 bytes an object on average; 8 in the list,
  // which grows by an eighth more; whole arenas of 1 MiB.
  const double more = median_in(row, "candidate") - median_in(row, "baseline");
  EXPECT_NEAR(more, 60000 * (85.1 + 8), 1.5 * kMiB);
}

TEST(HeapMeter, SamplesWhatIsTouchedOfLargeMappings) {
  const Workplace place;
  const std::string script =
      place.file("maps.py",
                 "import mmap, sys, time\n"
                 "private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS\n"
                 "reserved = mmap.mmap(-1, 512 << 20, flags=private)\n"
                 "for at in range(0, int(sys.argv[1]) << 20, 4096): reserved[at] = 1\n"
                 "time.sleep(0.2)\n");
  const Finished run =
      memduel(place, {"compare", "--a", "/usr/bin/python3 " + script + " 50", "--b",
                      "/usr/bin/python3 " + script + " 60", "--repeats", "5", "--gate", "default",
                      "--set", "profile.trials=0", "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.out;
  const auto results = results_in(place.path("run"));
  const auto row = comparison(results, "all", "peak_heap_and_mapped_bytes");
  EXPECT_EQ(row.at("verdict"), "regressed");
  EXPECT_NEAR(median_in(row, "candidate") - median_in(row, "baseline"), 10 * kMiB, 0.2 * kMiB);
  EXPECT_EQ(comparison(results, "all", "peak_mapped_bytes").at("verdict"), "unchanged");
  EXPECT_NE(std::string(results.at("limitations").dump()).find("touched_memory_sampled"),
            std::string::npos);
}

TEST(HeapMeter, FollowsAShellToWhatItRuns) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "shell", "baseline": "a", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": ["sh", "-c", ")" MEMDUEL_HOG " 20; " MEMDUEL_HOG R"( 30"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "argv": { "command": [")" MEMDUEL_HOG
                                                     R"(", "30"] } } ],
    "measure": { "repeats": 1 } })");
  const Finished run =
      memduel(place, {"run", config, "--out", place.path("run"), "--on-inconclusive", "pass"});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto results = results_in(place.path("run"));
  const double peak = metric_of(results, "a", "command", "peak_heap_bytes");
  EXPECT_GE(peak, 30 * kMiB) << "one after the other: the larger one's";
  EXPECT_LE(peak, 30 * kMiB + 2 * kOther);
  EXPECT_GE(metric_of(results, "a", "command", "allocated_bytes"), 50 * kMiB);
}

/// The values of a metric in the measured trials of an arm.
std::set<double> values_of(const nlohmann::json& results, const std::string& arm,
                           const std::string& metric) {
  std::set<double> values;
  for (const auto& trial : results.at("trials")) {
    if (trial.at("variant") != arm || trial.at("kind") != "measure") continue;
    for (const auto& role : trial.at("roles"))
      if (role.at("role") == "command") values.insert(role.at("metrics").at(metric).get<double>());
  }
  return values;
}

// Bash copies its environment to the heap. With two warm-ups and ten trials the number of a trial
// gets a second digit.
TEST(HeapMeter, CountsTheSameInEveryTrialOfAScriptThatExecutesAProgram) {
  const Workplace place;
  const std::string shim =
      place.file("hog", "#!/usr/bin/env bash\nset -e\nexec " MEMDUEL_HOG " \"$@\"\n");
  fs::permissions(shim, fs::perms::owner_all);
  const auto measured = [&](const std::string& program, const std::string& out) {
    const Finished run = memduel(place, {"compare", "--a", program + " 2", "--b", program + " 3",
                                         "--repeats", "5", "--out", place.path(out)});
    EXPECT_EQ(run.status, 0) << run.err;
    return results_in(place.path(out));
  };
  const auto direct = measured(MEMDUEL_HOG, "direct");
  const auto script = measured(shim, "script");
  for (const char* metric :
       {"allocated_bytes", "allocation_count", "live_at_end_bytes", "peak_heap_bytes"}) {
    EXPECT_THAT(values_of(script, "a", metric), testing::SizeIs(1)) << metric;
    EXPECT_TRUE(comparison(script, "all", metric).at("identical")) << metric;
  }
  // What the script's own programs held is gone when the hog begins.
  for (const char* metric : {"live_at_end_bytes", "peak_heap_bytes"})
    EXPECT_EQ(values_of(script, "a", metric), values_of(direct, "a", metric)) << metric;
  const std::string limitations = script.at("limitations").dump();
  EXPECT_THAT(limitations, testing::Not(testing::HasSubstr("heap_sum_sampled")));
  EXPECT_THAT(limitations,
              testing::HasSubstr("is a script, " + shim + ", that starts " MEMDUEL_HOG));
  EXPECT_THAT(direct.at("limitations").dump(),
              testing::Not(testing::HasSubstr("program_behind_script")));
}

TEST(HeapMeter, KeepsThePhasesOfAProgramWithoutRounds) {
  const Workplace place;
  const std::string script = place.file("phases.py", R"py(
import sys
sys.path.insert(0, sys.argv[1])
import memduel_annotate as memduel
memduel.phase("load")
kept = bytearray(8 << 20)
memduel.phase("train")
more = bytearray(16 << 20)
memduel.phase(None)
)py");
  const std::string command =
      "/usr/bin/python3 " + script + " " MEMDUEL_SOURCES "/include/memduel ";
  const Finished run = memduel(place, {"compare", "--a", command + "1", "--b", command + "2",
                                       "--repeats", "1", "--out", place.path("run")});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto results = results_in(place.path("run"));
  const auto& rounds = results.at("trials").at(0).at("roles").at(0).at("rounds");
  ASSERT_EQ(rounds.size(), 1U);
  const auto& phases = rounds.at(0).at("phases");
  ASSERT_EQ(phases.size(), 2U);
  for (const auto& [at, name, mib] : {std::tuple{0, "load", 8.0}, {1, "train", 24.0}}) {
    EXPECT_EQ(phases.at(at).at("phase"), name);
    const double peak = phases.at(at).at("metrics").at("peak_heap_bytes");
    EXPECT_GE(peak, mib * kMiB) << name;
    EXPECT_LE(peak, (mib + 4) * kMiB) << name << ": the interpreter has less";
    EXPECT_GT(phases.at(at).at("metrics").at("peak_rss_bytes").get<double>(), 0) << name;
  }
  EXPECT_TRUE(rounds.at(0).at("metrics").contains("round_seconds"));
}

TEST(HeapMeter, SaysWhyAProgramIsNotCounted) {
  const Workplace place;
  const Finished run =
      memduel(place, {"compare", "--a", "/sbin/ldconfig -p", "--b", "/sbin/ldconfig -v -N -X",
                      "--repeats", "5", "--verbose", "--out", place.path("run")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("statically linked"));
}

TEST(ProfileTrials, LeaveAProfilePerRoleAndSayWhatTheyCost) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "profiled", "baseline": "a", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": [")" MEMDUEL_HOG R"(", "20"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "argv": { "command": [")" MEMDUEL_HOG
                                                     R"(", "30"] } } ],
    "measure": { "repeats": 4 }, "profile": {} })");
  const Finished run = memduel(place, {"run", config, "--out", place.path("run"), "--verbose"});
  EXPECT_EQ(run.status, 1) << "b needs more: " << run.err;
  const auto results = results_in(place.path("run"));
  std::vector<std::string> profiles;
  for (const auto& trial : results.at("trials"))
    if (trial.at("kind") == "profile")
      profiles.push_back(
          place.path("run/profiles/" + trial.at("id").dump() + "-command.mdp").string());
  ASSERT_EQ(profiles.size(), 2U);
  for (const auto& [profile, peak] : {std::pair{profiles[0], "20"}, {profiles[1], "30"}}) {
    EXPECT_THAT(run.out, testing::HasSubstr("profile: " + profile));
    const Finished summary = memduel(place, {"summary", profile});
    EXPECT_EQ(summary.status, 0) << summary.err;
    EXPECT_THAT(summary.out, testing::HasSubstr(std::string(peak) + ".")) << "its peak in MiB";
  }
  const Finished table = memduel(place, {"summary", place.path("run").string()});
  EXPECT_EQ(std::ranges::count(table.out, '\n'), 3) << "a heading and the two: " << table.out;
  EXPECT_EQ(table.err, "") << "nothing else of the run is taken for a profile";
  ASSERT_EQ(results.at("perturbation").size(), 2U);
  EXPECT_EQ(results.at("perturbation").at(0).at("profiler"), "recorder");
  EXPECT_GT(results.at("perturbation").at(0).at("peak_rss_ratio"), 0.9);
  const std::string command = "memduel flamegraph " + profiles[0] + " --diff " + profiles[1];
  EXPECT_THAT(run.out, testing::AllOf(testing::HasSubstr(command),
                                      testing::HasSubstr("Under the recorder, a took ")));
  EXPECT_THAT(memduel(place, {"report", place.path("run"), "--format", "markdown"}).out,
              testing::HasSubstr(command));
}

}  // namespace
}  // namespace memduel
