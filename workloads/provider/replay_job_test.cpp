#include "replay_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/experiment.h"
#include "provider/expand.h"
#include "run/plan.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(ReplayDevices, OneIsEveryRoles) {
  for (const char* role : {"server", "client", "simulator"}) {
    EXPECT_EQ(device_of_role({{"device", "cuda:1"}}, role), "cuda:1");
    EXPECT_EQ(device_of_role(json::object(), role), "cpu");
  }
}

TEST(ReplayDevices, AnObjectNamesThemByRoleAndLeavesTheOthersOnTheCpu) {
  const json workload = {{"device", {{"client", "cuda"}}}};
  EXPECT_EQ(device_of_role(workload, "server"), "cpu");
  EXPECT_EQ(device_of_role(workload, "client"), "cuda");
  EXPECT_THAT(devices_of(workload), ElementsAre("cpu", "cuda"));
}

TEST(ReplayDevices, CountGpusFromZero) {
  EXPECT_TRUE(is_gpu("cuda:12"));
  EXPECT_FALSE(is_gpu("cpu"));
  EXPECT_EQ(gpu_number("cuda"), 0);
  EXPECT_EQ(gpu_number("cuda:12"), 12);
}

using nlohmann::json;

TEST(ReplayFacts, ARoundOfClientsIsHeldToTheServerAndTheLargestClient) {
  const JobFacts job = replay_facts({{"kind", "federated"}, {"clients", 2}});
  const std::vector<RoleMetric> gates = {{"server", "peak_rss_bytes"},
                                         {"client_max", "peak_rss_bytes"},
                                         {"server", "rss_growth_bytes_per_round"}};
  EXPECT_EQ(job.default_gates, gates);
  EXPECT_EQ(replay_facts({{"kind", "graph"}}).default_gates.size(), 1U) << "no growth over stages";
  EXPECT_EQ(replay_facts({{"kind", "simulation"}}).default_gates.front().role, "simulator");
}

// docs/lower-bounds.md: M for what does not train, M + P with plain gradient descent, M + P + 2 P
// with Adam; on a GPU the same bytes are there.
TEST(ReplayFacts, TrainingHoldsGradientsAndTheOptimizersMoments) {
  const auto held = [](const char* kind, const json& more) {
    json workload = {{"kind", kind}, {"clients", 1}};
    workload.update(more);
    return replay_facts(workload).held_models;
  };
  for (const HeldModel& one : held("state-dict", json::object())) EXPECT_EQ(one.copies, 0);
  const auto adam = held("federated", {{"optimizer", {{"name", "adam"}}}});
  ASSERT_EQ(adam.size(), 2U);
  EXPECT_EQ(adam[0].role, "server");
  EXPECT_EQ(adam[0].copies, 0);
  EXPECT_EQ(adam[1].role, "client_max");
  EXPECT_EQ(adam[1].copies, 3);
  EXPECT_EQ(adam[1].metric, "peak_rss_above_idle_bytes");
  EXPECT_EQ(held("federated", {{"optimizer", {{"name", "sgd"}}}})[1].copies, 1);
  for (const HeldModel& one : held("federated", {{"device", "cuda"}}))
    EXPECT_EQ(one.metric, "peak_gpu_allocated_bytes");
  const auto mixed = held("federated", {{"device", {{"client", "cuda:1"}}}});
  EXPECT_EQ(mixed[0].metric, "peak_rss_above_idle_bytes") << "the server is on the CPU";
  EXPECT_EQ(mixed[1].metric, "peak_gpu_allocated_bytes");
}

using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;

PlanSite site() {
  return {"/run/trials", "/run/logs", {{"HOME", "/root"}}, {{"data_dir", "/data"}}};
}

Experiment rounds_of_images(const std::vector<std::string>& set = {}) {
  Overrides overrides;
  overrides.set = set;
  return parse_experiment(R"({
    "name": "small", "baseline": "original", "measure": {"repeats": 2},
    "workload": {"kind": "federated", "model": "mnist-cnn", "dataset": {"name": "mnist"}},
    "variants": [{"name": "original", "preset": "appfl-original"},
             {"name": "optimized", "preset": "appfl-as-implemented"}]})",
                          "small.json", "/", overrides, ask_fl);
}

TEST(FederatedPlan, AServerThenClientsThatWaitForItsAddress) {
  const TrialSlot slot{12, 3, 1, 1, TrialKind::measure};
  const PlannedTrial planned = plan_trial(rounds_of_images(), slot, site());
  const TrialPlan& plan = planned.plan;
  EXPECT_EQ(plan.id, 12);
  EXPECT_EQ(plan.block, 3);
  EXPECT_EQ(plan.position, 1);
  EXPECT_EQ(plan.arm, "optimized");
  EXPECT_EQ(plan.trial_dir, "/run/trials/000012");
  EXPECT_EQ(plan.log_dir, "/run/logs");
  EXPECT_EQ(plan.deadline_seconds, 600);
  EXPECT_EQ(plan.interval_ms, 2);
  EXPECT_THAT(plan.meters, ElementsAre("procfs", "allocator", "torch"));
  ASSERT_EQ(plan.processes.size(), 3U);
  EXPECT_EQ(plan.processes[0].role, "server");
  EXPECT_EQ(plan.processes[0].ready->file, "/run/trials/000012/server.address");
  EXPECT_THAT(plan.processes[0].argv,
              ElementsAre(EndsWith("memduel-worker"), "--role", "server", "--index", "0",
                          "--config", "/run/trials/000012/worker.json"));
  EXPECT_EQ(plan.processes[2].role, "client-2");
  EXPECT_THAT(plan.processes[2].after, ElementsAre("server"));
  EXPECT_THAT(plan.processes[2].argv,
              ElementsAre(EndsWith("memduel-worker"), "--role", "client", "--index", "2",
                          "--config", "/run/trials/000012/worker.json"));
  EXPECT_EQ(plan.processes[2].env.at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(planned.artifacts.at(0).path, "/run/trials/000012/final_model.bin");
}

TEST(SimulationPlan, IsOneProcessWhoseRoundsAreThoseOfAllMethodsAndRepeats) {
  const Experiment experiment = parse_experiment(R"({
    "name": "simulation", "baseline": "original",
    "workload": {"kind": "simulation", "model": "csfl-cnn", "dataset": {"name": "mnist"},
                 "rounds": 7, "methods": ["random", "round_robin"], "repeats": 3},
    "variants": [{"name": "original", "preset": "csfl-original"},
             {"name": "optimized", "preset": "csfl-optimized"}]})",
                                                 "s.json", "/", {}, ask_fl);
  const TrialPlan plan = plan_trial(experiment, {12, 3, 1, 1, TrialKind::measure}, site()).plan;
  EXPECT_EQ(plan.rounds, 42);
  EXPECT_EQ(plan.deadline_seconds, 3600);
  ASSERT_EQ(plan.processes.size(), 1U);
  EXPECT_EQ(plan.processes[0].role, "simulator");
  EXPECT_THAT(plan.processes[0].argv,
              ElementsAre(EndsWith("memduel-worker"), "--role", "simulator", "--index", "0",
                          "--config", "/run/trials/000012/worker.json"));
  EXPECT_EQ(experiment.variants[1].switches.at("light_cleanup_rounds"), 5);
}

TEST(GraphPlan, IsOneProcessAfterTheRunsFileOfGraphs) {
  const Experiment experiment = parse_experiment(R"({
    "name": "graph", "baseline": "original",
    "workload": {"kind": "graph", "dataset": {"name": "can-log", "file": "can/drive.log"},
                 "autoencoder_epochs": 3, "teacher_epochs": 4, "student_epochs": 5},
    "variants": [{"name": "original", "preset": "kdgat-original"},
             {"name": "optimized", "preset": "kdgat-optimized"}]})",
                                                 "g.json", "/", {}, ask_fl);
  const PlannedTrial planned = plan_trial(experiment, {12, 3, 1, 1, TrialKind::measure}, site());
  EXPECT_EQ(planned.plan.rounds, 12);
  ASSERT_EQ(planned.plan.processes.size(), 1U);
  EXPECT_THAT(planned.plan.processes[0].argv,
              ElementsAre(EndsWith("memduel-worker"), "--role", "trainer", "--index", "0",
                          "--config", "/run/trials/000012/worker.json"));
  ASSERT_EQ(planned.prepare.size(), 1U);
  EXPECT_THAT(planned.prepare[0].argv,
              ElementsAre(EndsWith("memduel-worker"), "--role", "graphs", "--index", "0",
                          "--config", "/run/trials/000012/worker.json"));
  const json worker = json::parse(planned.files.at("/run/trials/000012/worker.json"));
  EXPECT_EQ(worker.at("graph_file"), "/run/trials/000012/../../graphs.bin");
  EXPECT_EQ(worker.at("workload").at("dataset").at("attacks"), json({"dos", "fuzzy", "spoofing"}));
  EXPECT_EQ(worker.at("switches").at("teacher"), "cached_outputs");
}

TEST(EegPlan, IsOneProcessWhoseRoundsAreItsFineTunings) {
  const Experiment experiment = parse_experiment(R"({
    "name": "eeg", "baseline": "original",
    "workload": {"kind": "eeg", "model": "cbramod-small", "trials": 7},
    "variants": [{"name": "original", "preset": "cbramod-original"},
             {"name": "optimized", "preset": "cbramod-optimized"}]})",
                                                 "e.json", "/", {}, ask_fl);
  const TrialPlan plan = plan_trial(experiment, {12, 3, 1, 1, TrialKind::measure}, site()).plan;
  EXPECT_EQ(plan.rounds, 7);
  ASSERT_EQ(plan.processes.size(), 1U);
  EXPECT_EQ(plan.processes[0].role, "trainer");
  EXPECT_THAT(plan.processes[0].argv,
              ElementsAre(EndsWith("memduel-worker"), "--role", "trainer", "--index", "0",
                          "--config", "/run/trials/000012/worker.json"));
  EXPECT_EQ(written_document(experiment.config).at("workload").at("dataset").at("seconds"), 30);
  EXPECT_EQ(experiment.variants[1].switches.at("gradient_checkpointing"), "per_block");
}

TEST(FederatedPlan, OnAGpuCublasAddsInOneOrder) {
  const auto setting = [&](const std::vector<std::string>& set) {
    const auto planned =
        plan_trial(rounds_of_images(set), {12, 3, 1, 1, TrialKind::measure}, site());
    const auto& env = planned.plan.processes[1].env;
    const auto found = env.find("CUBLAS_WORKSPACE_CONFIG");
    return found == env.end() ? "" : found->second;
  };
  EXPECT_EQ(setting({}), "");
  EXPECT_EQ(setting({"workload.device=cuda"}), ":4096:8");
  EXPECT_EQ(
      setting({"workload.device=cuda", "variants.optimized.env.CUBLAS_WORKSPACE_CONFIG=\":16:8\""}),
      ":16:8")
      << "a variant's own comes last";
}

TEST(FederatedPlan, TheWorkerIsToldTheResolvedWorkload) {
  const Experiment experiment = rounds_of_images();
  const PlannedTrial planned = plan_trial(experiment, {1, 0, 0, 1, TrialKind::warmup}, site());
  const auto text = planned.files.at("/run/trials/000001/worker.json");
  json workload = written_document(experiment.config).at("workload");
  workload.erase("seed");
  const json expected = {{"workload", workload},
                         {"switches", experiment.variants[1].switches},
                         {"seed", 1},
                         {"meters", *experiment.config.measure.meters},
                         {"trial_dir", "/run/trials/000001"},
                         {"data_dir", "/data"},
                         {"address_file", "/run/trials/000001/server.address"},
                         {"model_file", "/run/trials/000001/final_model.bin"}};
  EXPECT_EQ(json::parse(text), expected);
}

TEST(FederatedPlan, OfASwarmHasClientsAlone) {
  const Experiment experiment = parse_experiment(R"({"name": "swarm", "baseline": "a",
    "workload": {"kind": "state-dict", "model": "mnist-cnn", "topology": "swarm", "clients": 3},
    "variants": [{"name": "a", "switches": {"aggregate": "collect_all"}},
             {"name": "b", "switches": {"aggregate": "in_time"}}]})",
                                                 "s.json", "/", {}, ask_fl);
  const auto plan = plan_trial(experiment, {1, 0, 0, 0, TrialKind::measure}, site()).plan;
  ASSERT_EQ(plan.processes.size(), 3U);
  EXPECT_EQ(plan.processes[0].role, "client-1");
  EXPECT_TRUE(plan.processes[2].after.empty());
  EXPECT_EQ(experiment.facts.reference, "client-1");
}

TEST(FederatedPlan, ATracersTrialTellsTheWorkerItsLongerDeadline) {
  const TrialSlot slot{1, 0, 0, 0, TrialKind::profile, "gperftools"};
  const PlannedTrial planned = plan_trial(rounds_of_images(), slot, site());
  const json worker = json::parse(planned.files.at("/run/trials/000001/worker.json"));
  EXPECT_EQ(worker.at("workload").at("deadline_seconds"), planned.plan.deadline_seconds);
  EXPECT_GT(planned.plan.deadline_seconds, 600);
}

TEST(FederatedPlan, AnArmMayNameItsOwnWorker) {
  const Experiment experiment =
      rounds_of_images({"variants.optimized.env.MEMDUEL_WORKER=/other/memduel-worker"});
  const auto program = [&](std::size_t arm, std::size_t process) {
    return plan_trial(experiment, {1, 0, 0, arm, TrialKind::measure}, site())
        .plan.processes[process]
        .argv.front();
  };
  EXPECT_EQ(program(1, 0), "/other/memduel-worker");
  EXPECT_EQ(program(1, 2), "/other/memduel-worker");
}

TEST(FederatedPlan, OneClientIsAGroup) {
  const Experiment experiment = rounds_of_images({"workload.clients=1"});
  EXPECT_EQ(experiment.facts.groups, (std::vector<RoleGroup>{{"client", 1}}));
  EXPECT_EQ(experiment.facts.roles, (std::vector<std::string>{"server", "client-1"}));
}

}  // namespace
}  // namespace memduel
