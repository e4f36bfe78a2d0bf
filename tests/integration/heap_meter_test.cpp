// The meter heap on real programs: exact heap bytes of commands, nothing to link or to mark.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/memduel_program.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr double kMiB = 1024 * 1024;
/// What a C++ program allocates besides: libstdc++'s pool for exceptions (72 KiB), little else.
constexpr double kOther = 128 * 1024;

double metric_of(const nlohmann::json& results, const std::string& arm, const std::string& role,
                 const std::string& metric) {
  for (const auto& trial : results.at("trials")) {
    if (trial.at("arm") != arm || trial.at("kind") != "measure") continue;
    for (const auto& each : trial.at("roles"))
      if (each.at("role") == role) return each.at("metrics").at(metric);
  }
  return -1;
}

TEST(HeapMeter, CountsACommandToTheByteAndGatesIt) {
  const Workplace place;
  const Finished run =
      memduel(place, {"compare", "--a", MEMDUEL_HOG " 20", "--b", MEMDUEL_HOG " 30", "--repeats",
                      "5", "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.err;
  const auto results = results_in(place.path("run"));
  const auto row = comparison(results, "tree", "peak_heap_bytes");
  EXPECT_EQ(row.at("verdict"), "regressed");
  EXPECT_TRUE(row.at("gate")) << "a default gate of commands";
  for (const auto& [arm, mib] : {std::pair{"a", 20.0}, {"b", 30.0}}) {
    const double peak = metric_of(results, arm, "command", "peak_heap_bytes");
    EXPECT_GE(peak, mib * kMiB);
    EXPECT_LE(peak, mib * kMiB + kOther);
    EXPECT_EQ(metric_of(results, arm, "tree", "peak_heap_bytes"), peak);
    EXPECT_GE(metric_of(results, arm, "command", "allocation_count"), 1);
  }
}

TEST(HeapMeter, FollowsAShellToWhatItRuns) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "shell", "baseline": "a", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": ["sh", "-c", ")" MEMDUEL_HOG " 20; " MEMDUEL_HOG R"( 30"] } ] },
    "arms": [ { "name": "a" }, { "name": "b", "argv": { "command": [")" MEMDUEL_HOG
                                                     R"(", "30"] } } ],
    "measure": { "repeats": 1 } })");
  const Finished run = memduel(place, {"run", config, "--out", place.path("run")});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto results = results_in(place.path("run"));
  const double peak = metric_of(results, "a", "command", "peak_heap_bytes");
  EXPECT_GE(peak, 30 * kMiB) << "one after the other: the larger one's";
  EXPECT_LE(peak, 30 * kMiB + 2 * kOther);
  EXPECT_GE(metric_of(results, "a", "command", "allocated_bytes"), 50 * kMiB);
}

TEST(HeapMeter, SaysWhyAProgramIsNotCounted) {
  const Workplace place;
  const Finished run =
      memduel(place, {"compare", "--a", "/sbin/ldconfig -p", "--b", "/sbin/ldconfig -v -N -X",
                      "--no-default-gates", "--repeats", "5", "--out", place.path("run")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("statically linked"));
}

TEST(ProfileTrials, LeaveAProfilePerRoleAndSayWhatTheyCost) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "profiled", "baseline": "a", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": [")" MEMDUEL_HOG R"(", "20"] } ] },
    "arms": [ { "name": "a" }, { "name": "b", "argv": { "command": [")" MEMDUEL_HOG
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
  EXPECT_EQ(results.at("perturbation").at(0).at("tracer"), "recorder");
  EXPECT_GT(results.at("perturbation").at(0).at("peak_rss_ratio"), 0.9);
  const auto relative = [&](const std::string& profile) {
    return fs::relative(profile, place.path("run")).string();
  };
  const std::string command =
      "memduel flamegraph " + relative(profiles[0]) + " --diff " + relative(profiles[1]);
  EXPECT_THAT(run.out, testing::AllOf(testing::HasSubstr(command),
                                      testing::HasSubstr("Under the recorder, a took ")));
  EXPECT_THAT(memduel(place, {"report", place.path("run"), "--format", "markdown"}).out,
              testing::HasSubstr(command));
}

}  // namespace
}  // namespace memduel
