// The allocator as an arm, on real programs: what is verified, and what cannot be.
#include "allocator_arm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr double kMiB = 1024 * 1024;

json arm_under(const std::string& allocator) {
  return json::object({{"name", allocator}, {"allocator", allocator}});
}

std::vector<json> arms_under(const std::vector<std::string>& allocators) {
  std::vector<json> arms;
  for (const std::string& allocator : allocators) arms.push_back(arm_under(allocator));
  return arms;
}

std::vector<json> four_arms() {
  return arms_under({"glibc", "jemalloc", "tcmalloc", "mimalloc"});
}

/// A config of one process; arm "plain" is its baseline.
json config_of(const std::vector<std::string>& argv, const std::vector<json>& arms) {
  json config =
      json::parse(R"({"name": "allocators", "baseline": "plain", "variants": [{"name": "plain"}],
    "workload": {"kind": "command", "processes": [{"role": "command"}]},
    "measure": {"repeats": 1}, "profile": {"trials": 0}})");
  config["workload"]["processes"][0]["argv"] = argv;
  for (const json& arm : arms) config["variants"].push_back(arm);
  return config;
}

class AllocatorArms : public testing::Test {
 protected:
  void run(const json& config) {
    finished_ = memduel(
        place_, {"run", place_.file("duel.json", config.dump()), "--out", place_.path("run")});
    ASSERT_TRUE(std::filesystem::exists(place_.path("run/results.json"))) << finished_.err;
    results_ = results_in(place_.path("run"));
  }
  void run(const std::vector<std::string>& argv, const std::vector<json>& arms,
           const std::vector<std::string>& meters = {"procfs", "heap"}, int repeats = 1) {
    json config = config_of(argv, arms);
    config["measure"]["repeats"] = repeats;
    config["measure"]["meters"] = meters;
    run(config);
  }

  /// How the arm's measure trials failed; empty when none did.
  std::string failure_of(const std::string& arm) {
    for (const json& trial : trials_of(arm))
      if (trial.at("status") != "ok") return trial.value("failure", std::string("no reason"));
    return {};
  }

  std::vector<json> trials_of(const std::string& arm) {
    std::vector<json> trials;
    for (const json& trial : results_.at("trials"))
      if (trial.at("variant") == arm && trial.at("kind") == "measure") trials.push_back(trial);
    return trials;
  }

  json arm(const std::string& name) {
    for (const json& each : results_.at("variants"))
      if (each.at("name") == name) return each;
    return nullptr;
  }

  Workplace place_;
  Finished finished_;
  json results_;
};

TEST_F(AllocatorArms, RunUnderTheAllocatorThatTheyNameAndSayWhatWasSeen) {
  run({MEMDUEL_ALLOCATES, "8"}, four_arms());
  for (const auto& [name, library] : {std::pair{"glibc", "/libc.so.6"},
                                      {"jemalloc", "/libjemalloc.so.2"},
                                      {"tcmalloc", "/libtcmalloc_minimal.so.4"},
                                      {"mimalloc", "/libmimalloc.so.2"}}) {
    ASSERT_EQ(failure_of(name), "");
    EXPECT_EQ(arm(name).at("allocator"), name);
    ASSERT_EQ(arm(name).at("allocator_libraries").size(), 1U) << name;
    EXPECT_THAT(arm(name).at("allocator_libraries")[0].get<std::string>(),
                testing::EndsWith(library));
    const json trial = trials_of(name).at(0);
    EXPECT_EQ(trial.at("allocators").at("command"), arm(name).at("allocator_libraries")[0]);
    // The recorder counts in front of whichever it is.
    const double peak = trial.at("roles").at(0).at("metrics").at("peak_heap_bytes");
    EXPECT_GE(peak, 8 * kMiB - 1000) << name;
    EXPECT_LE(peak, 8 * kMiB * 1.25 + 256 * 1024) << name;
  }
  EXPECT_EQ(arm("plain").at("allocator"), nullptr);
  EXPECT_FALSE(trials_of("plain").at(0).contains("allocators"));
  EXPECT_THAT(memduel(place_, {"report", place_.path("run"), "--format", "markdown"}).out,
              HasSubstr("Allocators found in the processes: glibc used glibc (libc.so.6)"));
}

TEST_F(AllocatorArms, TheShortestProcessIsVerifiedInEveryTrial) {
  run({"true"}, four_arms(), {"procfs"}, 5);
  for (const char* name : {"glibc", "jemalloc", "tcmalloc", "mimalloc"}) {
    EXPECT_EQ(failure_of(name), "");
    ASSERT_EQ(trials_of(name).size(), 5U);
    for (const json& trial : trials_of(name)) EXPECT_TRUE(trial.contains("allocators"));
  }
}

TEST_F(AllocatorArms, AShimThatKeepsTheEnvironmentIsFine) {
  run({"sh", "-c", "nice env A=1 " MEMDUEL_ALLOCATES " 1; exec timeout 60 " MEMDUEL_ALLOCATES " 1"},
      four_arms());
  for (const char* name : {"glibc", "jemalloc", "tcmalloc", "mimalloc"})
    EXPECT_EQ(failure_of(name), "");
}

TEST_F(AllocatorArms, AStaticProgramIsAFailedTrialWithTheReason) {
  run({MEMDUEL_ALLOCATES "_static", "1"}, four_arms());
  EXPECT_EQ(finished_.status, 1) << "candidates that fail fail their gates: " << finished_.err;
  EXPECT_EQ(failure_of("plain"), "");
  for (const char* name : {"glibc", "jemalloc", "tcmalloc", "mimalloc"})
    EXPECT_THAT(failure_of(name), AllOf(HasSubstr(std::string("command did not run under ") + name),
                                        HasSubstr("statically linked: nothing can be preloaded")));
}

/// Shims that lose the preload on the way to the program, each in its own way.
class CleaningShim : public AllocatorArms,
                     public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(CleaningShim, IsAFailedTrialWithTheReason) {
  run(GetParam(), arms_under({"jemalloc", "glibc"}), {"procfs"});
  EXPECT_EQ(failure_of("plain"), "");
  for (const char* name : {"jemalloc", "glibc"})
    EXPECT_THAT(failure_of(name), AllOf(HasSubstr(std::string("command did not run under ") + name),
                                        HasSubstr("LD_PRELOAD or MEMDUEL_WITNESS was removed")));
}

INSTANTIATE_TEST_SUITE_P(
    Each, CleaningShim,
    testing::Values(
        std::vector<std::string>{"env", "-i", MEMDUEL_ALLOCATES, "1"},
        std::vector<std::string>{"sh", "-c", "unset LD_PRELOAD; exec " MEMDUEL_ALLOCATES " 1"},
        std::vector<std::string>{"sh", "-c", "env -i " MEMDUEL_ALLOCATES " 1; true"},
        std::vector<std::string>{"python3", "-c",
                                 "import os; os.execve('" MEMDUEL_ALLOCATES "', ['x', '1'], {})"},
        std::vector<std::string>{"python3", "-c",
                                 "import subprocess; subprocess.run(['" MEMDUEL_ALLOCATES
                                 "', '1'], env={})"},
        std::vector<std::string>{"python3", "-c",
                                 "import os; os.waitpid(os.posix_spawn('" MEMDUEL_ALLOCATES
                                 "', ['x', '1'], {}), 0)"}));

TEST_F(AllocatorArms, AnotherAllocatorThanTheNamedOneIsAFailedTrial) {
  const std::string other = allocator_library(Allocator::tcmalloc);
  std::vector<json> arms = arms_under({"glibc", "jemalloc"});
  for (json& arm : arms) arm["env"]["LD_PRELOAD"] = other;
  run({MEMDUEL_ALLOCATES, "1"}, arms);
  EXPECT_THAT(failure_of("glibc"), AllOf(HasSubstr("command did not run under glibc: malloc of"),
                                         HasSubstr("comes from " + other)));
  EXPECT_EQ(failure_of("jemalloc"), "")
      << "the variant's allocator comes before what its environment preloads";
}

TEST_F(AllocatorArms, AProgramWithItsOwnMallocIsAFailedTrial) {
  run({MEMDUEL_BRINGS_MALLOC}, four_arms(), {"procfs"});
  for (const char* name : {"glibc", "jemalloc", "tcmalloc", "mimalloc"})
    EXPECT_THAT(failure_of(name), HasSubstr("brings_malloc comes from " MEMDUEL_BRINGS_MALLOC));
}

TEST_F(AllocatorArms, AStaticHelperIsALimitation) {
  run({"sh", "-c", "/sbin/ldconfig -p > /dev/null; exec " MEMDUEL_ALLOCATES " 1"},
      arms_under({"jemalloc"}));
  EXPECT_EQ(failure_of("jemalloc"), "");
  EXPECT_THAT(
      results_.at("limitations").dump(),
      HasSubstr(
          "a helper of command ran without jemalloc: /sbin/ldconfig: it is statically linked"));
}

TEST_F(AllocatorArms, ProfileTrialsAreVerifiedWhereTheTracerDoesNotHideTheAllocator) {
  json config = config_of({MEMDUEL_ALLOCATES, "4"}, arms_under({"mimalloc"}));
  config["profile"] = {{"profilers", {"recorder", "heaptrack"}}, {"trials", 1}};
  run(config);
  EXPECT_THAT(memduel(place_, {"report", place_.path("run"), "--format", "text"}).out,
              testing::ContainsRegex("mimalloc\\s+used\\s+mimalloc\\s+.libmimalloc.so.2"));
  std::set<std::string> seen;
  for (const json& trial : results_.at("trials")) {
    if (trial.at("kind") != "profile" || trial.at("variant") != "mimalloc") continue;
    const auto tracer = trial.at("profiler").get<std::string>();
    EXPECT_EQ(trial.at("status"), "ok") << trial;
    seen.insert(tracer);
    if (tracer == "heaptrack") {
      EXPECT_FALSE(trial.contains("allocators")) << "its malloc is heaptrack's";
      continue;
    }
    EXPECT_THAT(trial.at("allocators").at("command").get<std::string>(), HasSubstr("libmimalloc"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"recorder", "heaptrack"}));
  EXPECT_EQ(results_.at("perturbation").size(), 2 * 2) << "of each variant under each profiler";
}

}  // namespace
}  // namespace memduel
