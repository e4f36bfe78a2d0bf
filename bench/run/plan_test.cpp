#include "run/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "external/tracers.h"
#include "support/small_experiment.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;

PlanSite site() {
  return {"/run/trials", "/run/logs", {{"HOME", "/root"}}};
}

/// What the kernel copies to a new stack for arguments and environment: every string with its NUL
/// and its pointer.
std::size_t stack_size(const ProcessSpec& process) {
  auto environment = process.env;
  environment.emplace("HOME", "/root");
  std::size_t bytes = 0;
  for (const auto& argument : process.argv) bytes += argument.size() + 1 + 8;
  for (const auto& [name, value] : environment) bytes += name.size() + value.size() + 2 + 8;
  return bytes;
}

TEST(Plan, EveryArmsProcessesGetStacksOfTheSameSize) {
  Overrides overrides;
  overrides.set = {"variants.optimized.env.MALLOC_ARENA_MAX=\"2\"",
                   "variants.original.env.A=\"b\""};
  const Experiment experiment = federated_experiment(overrides);
  const auto original = plan_trial(experiment, {1, 1, 0, 0, TrialKind::measure}, site()).plan;
  const auto optimized = plan_trial(experiment, {2, 1, 1, 1, TrialKind::measure}, site()).plan;
  for (std::size_t i = 0; i < original.processes.size(); ++i) {
    EXPECT_EQ(stack_size(original.processes[i]), stack_size(optimized.processes[i]));
  }
  EXPECT_EQ(original.trial_dir.string().size(), optimized.trial_dir.string().size());
}

TEST(Plan, EqualArmsAreNotPadded) {
  const auto plan =
      plan_trial(federated_experiment(), {1, 1, 0, 0, TrialKind::measure}, site()).plan;
  EXPECT_FALSE(plan.processes[0].env.contains("MEMDUEL_PAD"));
}

Experiment command_experiment() {
  return parse_experiment(R"({
    "name": "job",
    "workload": {"kind": "command", "deadline_seconds": 30, "processes": [
      {"role": "server", "argv": ["./server", "--port", "{port:fl}", "{\"json\": 1}"],
       "ready": {"port": "fl", "within_seconds": 9}, "end": "stop", "cwd": "{trial_dir}"},
      {"role": "client", "count": 2, "after": ["server"], "exit_statuses": [0, 3],
       "argv": ["./client", "{index}", "{port:fl}", "{seed}"], "env": {"OUT": "{trial_dir}/o"}}]},
    "variants": [{"name": "before"}, {"name": "after", "append": {"server": ["--optimized"]}}],
    "baseline": "before", "measure": {"seed": 77}})",
                          "c.json", "/job", {}, small_provider());
}

TEST(CommandPlan, PlaceholdersAreReplacedAndOtherBracesStay) {
  const auto plan = plan_trial(command_experiment(), {4, 1, 0, 1, TrialKind::measure}, site()).plan;
  ASSERT_EQ(plan.processes.size(), 3U);
  const ProcessSpec& server = plan.processes[0];
  ASSERT_TRUE(server.ready && server.ready->port);
  const std::string port = std::to_string(*server.ready->port);
  EXPECT_THAT(server.argv, ElementsAre("./server", "--port", port, "{\"json\": 1}", "--optimized"));
  EXPECT_EQ(server.cwd, "/run/trials/000004");
  EXPECT_EQ(server.end, End::stop);
  EXPECT_EQ(server.ready->within_seconds, 9);
  EXPECT_EQ(plan.processes[1].role, "client-1");
  const ProcessSpec& client = plan.processes[2];
  EXPECT_EQ(client.role, "client-2");
  EXPECT_THAT(client.argv, ElementsAre("./client", "2", port, "77"));
  EXPECT_THAT(client.after, ElementsAre("server"));
  EXPECT_THAT(client.exit_statuses, ElementsAre(0, 3));
  EXPECT_EQ(client.env.at("OUT"), "/run/trials/000004/o");
  EXPECT_EQ(client.cwd, "/job/");
  EXPECT_EQ(plan.deadline_seconds, 30);
}

/// The experiment above with more of a job around its processes.
Experiment job(const std::string& parts) {
  json document = written_document(command_experiment().config);
  document["workload"].update(json::parse(parts));
  return parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
}

TEST(CommandPlan, StepsFilesAndLimitsOfAJob) {
  const Experiment experiment = job(R"({
    "cwd": "/job", "stop_after_round": 3,
    "prepare": [["mkdir", "{trial_dir}/data"], ["./make", "{seed}"]],
    "cleanup": [["./clean", "{port:fl}", "{block}"]],
    "files": [{"name": "model", "path": "{trial_dir}/m.npz"}],
    "match": [{"role": "trainer", "pattern": "train"}]})");
  const PlannedTrial planned = plan_trial(experiment, {4, 2, 0, 1, TrialKind::measure}, site());
  ASSERT_EQ(planned.prepare.size(), 2U);
  EXPECT_EQ(planned.prepare[1].role, "prepare.2");
  EXPECT_THAT(planned.prepare[1].argv, ElementsAre("./make", "77"));
  EXPECT_EQ(planned.prepare[1].cwd, "/job");
  const int port = planned.plan.ports.at("fl");
  EXPECT_EQ(planned.plan.processes[0].ready->port, port);
  EXPECT_THAT(planned.cleanup.at(0).argv, ElementsAre("./clean", std::to_string(port), "2"));
  EXPECT_EQ(planned.artifacts.at(0).path, "/run/trials/000004/m.npz");
  EXPECT_EQ(planned.plan.match.at(0).role, "trainer");
  EXPECT_EQ(planned.plan.stop_after_round, 3);
  EXPECT_EQ(planned.plan.rounds, 3);
}

TEST(CommandPlan, AJsonDocumentIsFilledWhateverThePathsHold) {
  const Experiment experiment = job(R"({"templates": [{"to": "{trial_dir}/c.json",
    "json": {"seed": "{seed}", "port": "{port:fl}", "left": "{deadline_seconds}",
             "dir": "{trial_dir}/x", "data": "{site:data}", "of": [1, null, "block {block}"]}}]})");
  PlanSite quoted = site();
  quoted.trials_dir = "/run/a \"b\" \\c";
  quoted.values["data"] = "/d\n";
  const PlannedTrial planned = plan_trial(experiment, {4, 2, 0, 1, TrialKind::measure}, quoted);
  const std::string directory = "/run/a \"b\" \\c/000004";
  const json expected = {{"seed", 77},     {"port", planned.plan.ports.at("fl")},
                         {"left", 30},     {"dir", directory + "/x"},
                         {"data", "/d\n"}, {"of", {1, nullptr, "block 2"}}};
  EXPECT_EQ(json::parse(planned.files.at(directory + "/c.json")), expected);
}

TEST(CommandPlan, EveryTrialHasItsOwnPorts) {
  const Experiment experiment = command_experiment();
  std::set<int> ports;
  for (std::int64_t id = 1; id <= 5; ++id) {
    ports.insert(
        plan_trial(experiment, {id, 1, 0, 0, TrialKind::measure}, site()).plan.ports.at("fl"));
  }
  EXPECT_GT(ports.size(), 1U);
}

TEST(CommandPlan, PythonPrintsAtOnceUnlessToldOtherwise) {
  json document = written_document(command_experiment().config);
  document["workload"]["processes"][1]["env"]["PYTHONUNBUFFERED"] = "";
  const Experiment experiment =
      parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
  const auto processes =
      plan_trial(experiment, {1, 1, 0, 0, TrialKind::measure}, site()).plan.processes;
  EXPECT_EQ(processes[0].env.at("PYTHONUNBUFFERED"), "1");
  EXPECT_EQ(processes[1].env.at("PYTHONUNBUFFERED"), "");
}

class CommandTemplates : public TestFolder {
 protected:
  PlannedTrial plan_with(const std::string& text) {
    write_file_atomically(folder_ / "server.yaml.in", text);
    return plan_trial(job(R"({"templates": [{"from": ")" + (folder_ / "server.yaml.in").string() +
                          R"(", "to": "{trial_dir}/conf/server.yaml"}]})"),
                      {4, 2, 0, 0, TrialKind::measure}, site());
  }
};

TEST_F(CommandTemplates, AreFilledWithThePortsOfTheProcesses) {
  const PlannedTrial planned =
      plan_with("port: {port:fl}\nout: \"{trial_dir}/ü\" # {{seed}} is {seed}, ${HOME}\nend");
  EXPECT_EQ(planned.files.at("/run/trials/000004/conf/server.yaml"),
            "port: " + std::to_string(planned.plan.ports.at("fl")) +
                "\nout: \"/run/trials/000004/ü\" # {seed} is 77, ${HOME}\nend");
}

TEST_F(CommandTemplates, AnUnknownPlaceholderIsNamedWithItsLine) {
  const Error error = error_of([&] { plan_with("a: 1\nb: {sed}\n"); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.where(), (folder_ / "server.yaml.in").string() + ", line 2");
}

TEST(CommandPlan, TheArmWithFewerArgumentsIsPadded) {
  const Experiment experiment = command_experiment();
  const auto before = plan_trial(experiment, {1, 1, 0, 0, TrialKind::measure}, site()).plan;
  const auto after = plan_trial(experiment, {2, 1, 1, 1, TrialKind::measure}, site()).plan;
  EXPECT_EQ(stack_size(before.processes[0]), stack_size(after.processes[0]));
}

Experiment with_allocators(const std::string& original, const std::string& optimized) {
  Overrides overrides;
  overrides.set = {"variants.original.allocator=\"" + original + "\"",
                   "variants.optimized.allocator=\"" + optimized + "\""};
  return federated_experiment(overrides);
}

TEST(AllocatorPlan, EveryProcessOfTheArmIsPreloadedAndVerified) {
  const Experiment experiment = with_allocators("glibc", "jemalloc");
  const auto glibc = plan_trial(experiment, {1, 1, 0, 0, TrialKind::measure}, site()).plan;
  const auto jemalloc = plan_trial(experiment, {2, 1, 1, 1, TrialKind::warmup}, site()).plan;
  ASSERT_EQ(jemalloc.processes.size(), 3U);
  for (std::size_t i = 0; i < jemalloc.processes.size(); ++i) {
    const ProcessSpec& process = jemalloc.processes[i];
    ASSERT_TRUE(process.allocator);
    EXPECT_EQ(process.allocator->name, "jemalloc");
    EXPECT_THAT(process.env.at("LD_PRELOAD"),
                testing::MatchesRegex(".*/libmemduel_witness.so:.*/libjemalloc.so.2"));
    EXPECT_EQ(process.env.at("MEMDUEL_WITNESS"), "/run/trials/000002/witness/" + process.role);
    EXPECT_EQ(glibc.processes[i].env.at("MALLOC_ARENA_MAX"), "2");
    EXPECT_THAT(glibc.processes[i].env.at("LD_PRELOAD"),
                testing::EndsWith("/libmemduel_witness.so"));
    EXPECT_EQ(stack_size(glibc.processes[i]), stack_size(process));
  }
}

TEST(AllocatorPlan, AnArmThatNamesNoneIsLeftAlone) {
  const auto plan =
      plan_trial(federated_experiment(), {1, 1, 0, 0, TrialKind::measure}, site()).plan;
  EXPECT_FALSE(plan.processes[0].allocator);
  EXPECT_FALSE(plan.processes[0].env.contains("LD_PRELOAD"));
  EXPECT_FALSE(plan.processes[0].env.contains("MALLOC_ARENA_MAX"));
}

TEST(AllocatorPlan, TheRecorderComesBeforeTheAllocatorItCounts) {
  json document = written_document(command_experiment().config);
  document["variants"][1]["allocator"] = "tcmalloc";
  document["workload"]["processes"][0]["argv"][0] = "/bin/true";
  document["workload"]["processes"][1]["argv"][0] = "/bin/true";
  document["workload"]["processes"][1]["env"]["LD_PRELOAD"] = "/opt/own.so";
  const Experiment experiment =
      parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
  PlanSite inheriting = site();
  inheriting.environment["LD_PRELOAD"] = "/opt/inherited.so";
  const auto processes =
      plan_trial(experiment, {2, 1, 1, 1, TrialKind::profile, "recorder"}, inheriting)
          .plan.processes;
  const std::string first =
      ".*/libmemduel_witness.so:.*/libmemduel_recorder.so:.*/libtcmalloc_minimal.so.4:";
  EXPECT_THAT(processes[0].env.at("LD_PRELOAD"),
              testing::MatchesRegex(first + "/opt/inherited.so"));
  EXPECT_THAT(processes[1].env.at("LD_PRELOAD"), testing::MatchesRegex(first + "/opt/own.so"));
}

TEST(ProfilePlan, ASlowTracersTrialHasMoreTimeAndTheWorkerIsTold) {
  const Experiment experiment = federated_experiment();
  const PlannedTrial measure = plan_trial(experiment, {1, 1, 0, 1, TrialKind::measure}, site());
  const PlannedTrial gperftools =
      plan_trial(experiment, {2, -1, 0, 1, TrialKind::profile, "gperftools"}, site());
  const double patience = tracer_named("gperftools").patience;
  EXPECT_EQ(gperftools.plan.tracer, "gperftools");
  EXPECT_DOUBLE_EQ(gperftools.plan.deadline_seconds, 600 * patience);
  EXPECT_DOUBLE_EQ(gperftools.plan.stop_grace_seconds, measure.plan.stop_grace_seconds * patience);
  EXPECT_DOUBLE_EQ(gperftools.plan.processes[0].ready->within_seconds,
                   measure.plan.processes[0].ready->within_seconds * patience);
  const auto worker = json::parse(gperftools.files.at("/run/trials/000002/worker.json"));
  EXPECT_DOUBLE_EQ(worker.at("deadline_seconds"), 600 * patience);
  EXPECT_EQ(gperftools.plan.processes[0].trace_dir, "/run/trials/000002/trace/server");
}

TEST(ProfilePlan, TheRecorderIsNotInAProcessOfAnotherTracer) {
  Overrides overrides;
  overrides.set = {"measure.meters=[\"procfs\", \"heap\"]",
                   "variants.original.env.LD_PRELOAD=\"/opt/own.so\""};
  const Experiment experiment = federated_experiment(overrides);
  const auto process_of = [&](TrialKind kind, const std::string& tracer) {
    return plan_trial(experiment, {1, 1, 0, 0, kind, tracer}, site()).plan.processes[0];
  };
  EXPECT_TRUE(process_of(TrialKind::measure, "").heap_dir.has_value());
  const ProcessSpec recorded = process_of(TrialKind::profile, "recorder");
  EXPECT_EQ(recorded.heap_dir, recorded.trace_dir) << "its counters are beside its profiles";
  const ProcessSpec other = process_of(TrialKind::profile, "heaptrack");
  EXPECT_FALSE(other.heap_dir.has_value());
  EXPECT_FALSE(other.env.contains("MEMDUEL_RECORDER_DIR"));
  EXPECT_THAT(other.env.at("LD_PRELOAD"), testing::AllOf(testing::HasSubstr("heaptrack_preload.so"),
                                                         testing::EndsWith(":/opt/own.so")));
}

}  // namespace
}  // namespace memduel
