#include "model/job_facts.h"

#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

JobFacts coordinator_and_workers() {
  JobFacts job;
  job.roles = {"coordinator", "worker-1", "worker-2", "worker-3"};
  job.groups = {{"worker", 3}};
  job.reference = "coordinator";
  job.held_models = {{"worker_max", "peak_rss_above_idle_bytes", 1, "gradients"}};
  return job;
}

TEST(RoleGroup, HasItsNumberedMembersAlone) {
  const RoleGroup group{"worker", 12};
  for (const char* member : {"worker-1", "worker-9", "worker-12"}) EXPECT_TRUE(group.has(member));
  for (const char* other : {"worker", "worker-", "worker-0", "worker-13", "worker-1a", "worker--1",
                            "worker_1", "worker-99999999999", "co-worker-1", "worker_max"})
    EXPECT_FALSE(group.has(other)) << other;
}

TEST(GroupRole, StandsForTheLargestOrTheMedian) {
  const JobFacts job = coordinator_and_workers();
  ASSERT_TRUE(group_role(job, "worker_max"));
  EXPECT_FALSE(group_role(job, "worker_max")->is_median);
  ASSERT_TRUE(group_role(job, "worker_median"));
  EXPECT_TRUE(group_role(job, "worker_median")->is_median);
  for (const char* process : {"worker-1", "coordinator", "all", "coordinator_max"})
    EXPECT_FALSE(group_role(job, process)) << process;
}

TEST(IsAbout, ARowOfAGroupIsAboutItsMembersAndTheTreesAboutAll) {
  const JobFacts job = coordinator_and_workers();
  EXPECT_TRUE(is_about(job, "worker_max", "worker-2"));
  EXPECT_TRUE(is_about(job, "worker_median", "worker-3"));
  EXPECT_TRUE(is_about(job, "all", "coordinator"));
  EXPECT_TRUE(is_about(job, "worker-2", "worker-2"));
  EXPECT_FALSE(is_about(job, "worker-2", "worker-3"));
  EXPECT_FALSE(is_about(job, "worker_max", "coordinator"));
}

TEST(GroupsByName, AreNumberedFromOneWithoutAGap) {
  const std::vector<RoleGroup> groups = {{"client", 2}, {"pool-a", 1}};
  EXPECT_EQ(groups_by_name({"server", "client-2", "client-1", "client-4", "gpt-2", "pool-a-1"}),
            groups);
}

TEST(MetricInfoOfAJob, HasTheDirectionThatIsDeclared) {
  JobFacts job;
  job.better = {{"throughput", Direction::higher}, {"peak_rss_bytes", Direction::higher}};
  EXPECT_EQ(metric_info(job, "throughput").better, Direction::higher);
  EXPECT_EQ(metric_info(job, "goodput").better, Direction::undeclared);
  EXPECT_EQ(metric_info(job, "peak_rss_bytes").better, Direction::lower) << "the table's counts";
}

TEST(JobFactsJson, GivesBackWhatWentIn) {
  JobFacts job = coordinator_and_workers();
  job.better = {{"loss", Direction::lower}, {"samples", Direction::undeclared}};
  EXPECT_EQ(job_facts_from_json(to_json(job), "here"), job);
}

TEST(JobFactsJson, NamesThePlaceOfWhatIsNoneOfIt) {
  auto damaged = to_json(coordinator_and_workers());
  damaged["groups"] = {{{"name", "worker"}, {"count", "many"}}};
  for (const auto& value : {damaged, nlohmann::json(3), nlohmann::json::object()}) {
    try {
      job_facts_from_json(value, "results.json at /job");
      FAIL() << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::io);
      EXPECT_TRUE(error.where().starts_with("results.json at /job at /")) << error.where();
    }
  }
}

}  // namespace
}  // namespace memduel
