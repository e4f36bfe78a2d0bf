#include <gmock/gmock.h>

#include "findings.h"

namespace memduel {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

Profile image(const char* program, std::int64_t peak_mib, std::int64_t mapping_mib = 0) {
  Profile profile;
  profile.info["program"] = program;
  profile.counters.emplace();
  profile.counters->peak_bytes = peak_mib * kMiB;
  profile.counters->mapping_peak_bytes = mapping_mib * kMiB;
  return profile;
}

const std::vector<Profile> kCompilation = {
    image("/usr/bin/g++", 1), image("/usr/lib/cc1plus", 8, 150), image("/usr/bin/as", 36)};

TEST(ProgramsInTurn, HoldTogetherWhatTheLargestHolds) {
  EXPECT_TRUE(ran_in_turn({kCompilation}, {37.0 * kMiB}));
  const ProfileSide largest = only_largest({kCompilation, {image("/usr/bin/as", 5)}}, Heap::malloc);
  ASSERT_EQ(largest.size(), 2U);
  ASSERT_EQ(largest[0].size(), 1U);
  EXPECT_EQ(largest[0][0].info.at("program"), "/usr/bin/as");
  EXPECT_EQ(only_largest({kCompilation}, Heap::mapped)[0][0].info.at("program"),
            "/usr/lib/cc1plus");
}

TEST(ProgramsInTurn, AreNoneWhereTheirPeaksWereThereAtOnce) {
  EXPECT_FALSE(ran_in_turn({kCompilation}, {45.0 * kMiB})) << "a pipeline";
  EXPECT_FALSE(ran_in_turn({kCompilation}, {43.5 * kMiB})) << "within what sampling misses";
}

TEST(ProgramsInTurn, CountImagesOfOneProgramOnce) {
  const std::vector<Profile> workers = {image("/bin/worker", 30), image("/bin/worker", 30)};
  EXPECT_FALSE(ran_in_turn({workers}, {30.0 * kMiB}));
}

TEST(ProgramsInTurn, AreNotKnownWithoutTheMeterOrCounters) {
  EXPECT_FALSE(ran_in_turn({kCompilation}, {}));
  std::vector<Profile> without = kCompilation;
  without[0].counters.reset();
  EXPECT_FALSE(ran_in_turn({without}, {1.0 * kMiB}));
}

TEST(SourceRoots, AreTheWorktreesThenWhereProgramsRan) {
  Document config;
  config.workload.job.cwd = "/srv/app";
  JobProcess& server = config.workload.job.processes.emplace_back();
  server.cwd = "/srv/app/server/";
  config.workload.job.processes.emplace_back().cwd = "/srv/{role}";
  config.variants.emplace_back().cwd = "/srv/other";
  config.variants.emplace_back();
  EXPECT_THAT(source_roots("/srv/runs/1", config),
              testing::ElementsAre("/srv/runs/1/worktrees/a", "/srv/runs/1/worktrees/b",
                                   "/srv/app/server/", "/srv/other", "/srv/app"));
}

TEST(MeasuredPeaks, AreOfTheArmsProfileTrials) {
  RunData run;
  for (const TrialKind kind : {TrialKind::measure, TrialKind::profile}) {
    TrialData trial;
    trial.arm = "a";
    trial.kind = kind;
    RoleData role;
    role.role = "command";
    role.metrics["peak_heap_bytes"] = kind == TrialKind::profile ? 7 : 5;
    trial.roles = {role};
    run.trials.push_back(trial);
  }
  EXPECT_THAT(measured_peaks(run, "a", "command"), testing::ElementsAre(7));
  EXPECT_THAT(measured_peaks(run, "b", "command"), testing::IsEmpty());
}

}  // namespace
}  // namespace memduel
