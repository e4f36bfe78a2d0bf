#include "model/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/placeholders.h"
#include "resolution.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;

Experiment experiment_with(const std::string& workload) {
  return parse_experiment(R"({"name": "j", "workload": )" + workload + R"(,
    "variants": [{"name": "a"}, {"name": "b", "env": {"B": "1"}}], "baseline": "a"})",
                          "j.json", "/job", {}, small_provider());
}

TEST(Job, HoldsWhatTheConfigSaysOfEachProcess) {
  const Experiment experiment = experiment_with(R"({"kind": "command", "processes": [
    {"role": "server", "argv": ["./server", "{port:fl}"], "end": "stop", "cwd": "s",
     "ready": {"port": "fl", "delay_seconds": 0.5, "within_seconds": 9}},
    {"role": "client", "count": 2, "after": ["server"], "argv": ["./client"],
     "env": {"N": "{index}"}, "rounds": "reference", "exit_statuses": [0, 3]}]})");
  const JobProcess& server = experiment.config.workload.job.processes.at(0);
  EXPECT_THAT(server.roles(), ElementsAre("server"));
  EXPECT_EQ(server.cwd, "/job/s");
  EXPECT_EQ(server.end, End::stop);
  EXPECT_EQ(server.ready->port_name, "fl");
  EXPECT_FALSE(server.ready->port);
  EXPECT_EQ(server.ready->delay_seconds, 0.5);
  EXPECT_EQ(server.ready->within_seconds, 9);
  const JobProcess& client = experiment.config.workload.job.processes.at(1);
  EXPECT_THAT(client.roles(), ElementsAre("client-1", "client-2"));
  EXPECT_THAT(client.after, ElementsAre("server"));
  EXPECT_TRUE(client.takes_rounds);
  EXPECT_THAT(client.exit_statuses, ElementsAre(0, 3));
  EXPECT_THAT(client.env, ElementsAre(Pair("N", "{index}")));
  EXPECT_THAT(experiment.variants[1].processes.at(1).env,
              ElementsAre(Pair("B", "1"), Pair("N", "{index}")))
      << "with the variant's";
}

TEST(Job, HoldsWhatIsAroundATrial) {
  const Job job = experiment_with(R"({"kind": "command", "deadline_seconds": 7,
    "processes": [{"role": "job", "argv": ["./job"], "ready": {"port": 80}}],
    "prepare": [["make", "data"]], "cleanup": [["rm", "x"], ["rm", "y"]],
    "templates": [{"from": "a.in", "to": "{trial_dir}/a"}],
    "files": [{"name": "m", "path": "{trial_dir}/m", "compare": ["cmp", "{a}", "{b}"]},
              {"name": "n", "path": "n"}],
    "match": [{"role": "loader", "pattern": "load"},
              {"role": "reader", "pattern": "read", "ancestor": "loader", "count": 2, "port": 81}],
    "reference": "loader",
    "stop_after_round": 4, "stop_grace_seconds": 2})")
                      .config.workload.job;
  EXPECT_EQ(job.processes.at(0).ready->port, 80);
  EXPECT_THAT(job.prepare, ElementsAre(ElementsAre("make", "data")));
  EXPECT_EQ(job.cleanup.size(), 2U);
  EXPECT_EQ(job.templates.at(0).from, "/job/a.in");
  EXPECT_THAT(job.artifacts().at(0).compare, ElementsAre("cmp", "{a}", "{b}"));
  EXPECT_TRUE(job.artifacts().at(1).compare.empty());
  EXPECT_THAT(job.match.at(0).roles(), ElementsAre("loader"));
  EXPECT_FALSE(job.match.at(0).ancestor);
  EXPECT_THAT(job.match.at(1).roles(), ElementsAre("reader-1", "reader-2"));
  EXPECT_EQ(job.match.at(1).ancestor, "loader");
  EXPECT_EQ(job.match.at(1).port, 81);
  EXPECT_EQ(job.reference, "loader");
  EXPECT_EQ(job.stop_after_round, 4);
  EXPECT_EQ(job.stop_grace_seconds, 2);
  EXPECT_FALSE(mentions_block(job));
}

TEST(Job, DiffersByBlockWhereItMentionsIt) {
  EXPECT_TRUE(mentions_block(experiment_with(R"({"kind": "command",
    "processes": [{"role": "job", "argv": ["./job", "{block}"]}]})")
                                 .config.workload.job));
}

TEST(Job, HasATemplateThatIsACopyOrAJsonDocument) {
  const Job job = experiment_with(R"({"kind": "command",
    "processes": [{"role": "job", "argv": ["./job"]}], "rounds": 9,
    "templates": [{"json": {"a": ["{seed}"]}, "to": "{trial_dir}/a.json"}],
    "final_model": {"path": "{trial_dir}/m", "compare": ["far", "{a}", "{b}"]}})")
                      .config.workload.job;
  EXPECT_FALSE(job.templates.at(0).from);
  EXPECT_EQ(job.templates.at(0).json, json::parse(R"({"a":["{seed}"]})"));
  EXPECT_EQ(job.artifacts().at(0).path, "{trial_dir}/m");
  EXPECT_EQ(job.rounds, 9);
  const Error error = error_of([] {
    experiment_with(R"({"kind": "command", "processes": [{"role": "job", "argv": ["./job"]}],
      "templates": [{"to": "{trial_dir}/a"}]})");
  });
  EXPECT_EQ(
      error.message(),
      "j.json, line 2, $.workload.templates[0]: expected \"from\" or \"json\", found neither");
}

JobProcess process_of(const std::string& role, std::optional<int> count = std::nullopt) {
  JobProcess process;
  process.role = role;
  process.count = count;
  return process;
}

TEST(JobFactsOf, ACommandHasGroupsWhereAProcessHasACountOfSeveral) {
  Job of_three;
  of_three.processes = {process_of("coordinator"), process_of("worker", 3), process_of("alone", 1)};
  of_three.match = {{"loader", "load"}, {.role = "reader", .pattern = "read", .count = 2}};
  const JobFacts job = job_facts_of(of_three);
  const std::vector<std::string> roles = {"coordinator", "worker-1", "worker-2", "worker-3",
                                          "alone-1",     "loader",   "reader-1", "reader-2"};
  EXPECT_EQ(job.roles, roles);
  const std::vector<RoleGroup> groups = {{"worker", 3}, {"reader", 2}};
  EXPECT_EQ(job.groups, groups);
  EXPECT_EQ(job.reference, "coordinator") << "the first, where none is named";
  const std::vector<RoleMetric> gates = {{"all", "peak_heap_and_mapped_bytes"},
                                         {"all", "peak_rss_no_files_bytes"}};
  EXPECT_EQ(job.default_gates, gates);
  EXPECT_TRUE(job.held_models.empty());
}

TEST(JobFactsOf, ACommandNamesItsReference) {
  Job job;
  job.processes = {process_of("worker", 2), process_of("coordinator")};
  EXPECT_EQ(job_facts_of(job).reference, "worker-1");
  job.reference = "coordinator";
  EXPECT_EQ(job_facts_of(job).reference, "coordinator");
  job.match = {{.role = "trainer", .pattern = "train", .count = 2}};
  job.reference = "trainer";
  EXPECT_EQ(job_facts_of(job).reference, "trainer-1");
}

}  // namespace
}  // namespace memduel
