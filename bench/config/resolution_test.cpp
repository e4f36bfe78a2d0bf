#include "resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;

json command_config() {
  return json::parse(R"({
    "name": "job",
    "workload": {"kind": "command", "processes": [
      {"role": "server", "argv": ["./server", "--port", "{port:fl}"], "end": "stop",
       "ready": {"port": "fl"}},
      {"role": "client", "count": 2, "after": ["server"], "argv": ["./client", "{index}"]}]},
    "variants": [{"name": "before"}, {"name": "after", "append": {"server": ["--optimized"]}}],
    "baseline": "before"})");
}

std::string message_of(const json& document) {
  const Error error =
      error_of([&] { parse_experiment(document.dump(), "c.json", "/job", {}, small_provider()); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(CommandConfig, ArmsChangeArgumentsEnvironmentAndDirectory) {
  json document = command_config();
  document["variants"][1]["argv"]["client"] = {"python3", "client.py"};
  document["variants"][1]["env"]["N"] = "2";
  document["variants"][1]["cwd"] = "other";
  const Experiment experiment =
      parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
  const auto& before = experiment.variants[0].processes;
  const auto& after = experiment.variants[1].processes;
  EXPECT_THAT(before[0].argv, testing::ElementsAre("./server", "--port", "{port:fl}"));
  EXPECT_THAT(after[0].argv,
              testing::ElementsAre("./server", "--port", "{port:fl}", "--optimized"));
  EXPECT_THAT(after[1].argv, testing::ElementsAre("python3", "client.py"));
  EXPECT_THAT(after[1].env, testing::ElementsAre(testing::Pair("N", "2")));
  EXPECT_EQ(before[0].cwd, "/job/");
  EXPECT_EQ(after[0].cwd, "/job/other");
}

TEST(CommandConfig, DirectoriesStartAtTheConfigUnlessTheyAreTheTrials) {
  EXPECT_EQ(resolve_path("build", "/job"), "/job/build");
  EXPECT_EQ(resolve_path("/opt", "/job"), "/opt");
  EXPECT_EQ(resolve_path("{trial_dir}/x", "/job"), "{trial_dir}/x");
}

TEST(BadCommandConfig, FaultyProcesses) {
  json twice = command_config();
  twice["workload"]["processes"][1]["role"] = "server";
  EXPECT_EQ(message_of(twice),
            "c.json, $.workload.processes[1].role: found \"server\" twice\n  use a different role "
            "for each process, or set \"count\"");
  json reserved = command_config();
  reserved["workload"]["processes"][1]["role"] = "all";
  EXPECT_EQ(message_of(reserved),
            "c.json, $.workload.processes[1].role: found \"all\", which memduel uses for all "
            "processes together");
  json clash = command_config();
  clash["workload"]["processes"][0]["role"] = "client-2";
  clash["workload"]["processes"][1]["after"] = {"client-2"};
  EXPECT_EQ(message_of(clash),
            "c.json, $.workload.processes[1].role: found \"client-2\" twice\n  use a different "
            "role for each process, or set \"count\"");
  json later = command_config();
  later["workload"]["processes"][0]["after"] = {"client"};
  EXPECT_EQ(message_of(later),
            "c.json, $.workload.processes[0].after: expected an earlier role, found \"client\"");
  json several = command_config();
  several["workload"]["processes"][0]["ready"]["log"] = "listening";
  EXPECT_EQ(message_of(several),
            "c.json, $.workload.processes[0].ready: expected one condition of port, log and file, "
            "found several");
  json port = command_config();
  port["workload"]["processes"][0]["ready"]["port"] = "flo";
  EXPECT_EQ(message_of(port),
            "c.json, $.workload.processes[0].ready.port: expected the NAME of a {port:NAME} in the "
            "job, found \"flo\"\n  did you mean \"fl\"?");
  json shell = command_config();
  shell["workload"]["processes"][0]["argv"] = "./server --port 1";
  EXPECT_EQ(message_of(shell),
            "c.json, $.workload.processes[0].argv: expected array, found string \"./server --port "
            "1\"\n  The program and its arguments. No shell interprets them.");
}

TEST(CommandConfig, PathsOfTheJobStartAtTheConfig) {
  json document = command_config();
  json& workload = document["workload"];
  workload["cwd"] = "work";
  workload["templates"] =
      json::parse(R"([{"from": "server.yaml.in", "to": "{trial_dir}/server.yaml"}])");
  workload["files"] = json::parse(R"([{"name": "model", "path": "out/model.npz"},
                                      {"name": "log", "path": "{trial_dir}/log"}])");
  workload["processes"][1]["cwd"] = "{trial_dir}";
  workload["processes"][0]["ready"] = {{"file", "server.up"}};
  const Experiment experiment =
      parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
  EXPECT_EQ(experiment.variants[0].processes[0].ready->file, "/job/server.up");
  EXPECT_EQ(experiment.config.workload.job.cwd, "/job/work");
  EXPECT_EQ(experiment.config.workload.job.templates[0].from, "/job/server.yaml.in");
  EXPECT_EQ(experiment.config.workload.job.files[0].path, "/job/out/model.npz");
  EXPECT_EQ(experiment.config.workload.job.files[1].path, "{trial_dir}/log");
  EXPECT_EQ(experiment.variants[0].processes[0].cwd, "/job/work");
  EXPECT_EQ(experiment.variants[0].processes[1].cwd, "{trial_dir}");
  const Experiment again = parse_experiment(written_document(experiment.config).dump(),
                                            "config.json", "/elsewhere", {}, small_provider());
  EXPECT_EQ(again.config_sha256, experiment.config_sha256) << "a resolved config is final";
}

/// The message for the workload with a value at a place below it.
std::string message_with(const char* place, const std::string& value) {
  json document = command_config();
  document["workload"][json::json_pointer(place)] = json::parse(value);
  return message_of(document);
}

TEST(BadCommandConfig, UnknownPlaceholdersAreNamedWithTheirPlace) {
  EXPECT_EQ(message_with("/processes/0/argv", R"(["./server", "{por:fl}"])"),
            "c.json, $.workload.processes[0].argv[1]: unknown placeholder {por:fl}, expected "
            "{trial_dir}, {seed}, {block}, {deadline_seconds}, {index}, {port:NAME}, {node:ROLE}\n "
            " {{por:fl}} is the literal text");
  const std::multimap<const char*, const char*> faulty = {
      {"/processes/0/env", R"({"A": "{trial}"})"},
      {"/processes/0/cwd", R"("runs/{sede}")"},
      {"/processes/0/ready", R"({"file": "{trial_dir}/{name}"})"},
      {"/prepare", R"([["make", "{index}"]])"},
      {"/cleanup", R"([["rm", "{trial_di}"]])"},
      {"/templates", R"([{"from": "a", "to": "{trial_dir}/{x}"}])"},
      {"/files", R"([{"name": "m", "path": "{a}"}])"},
      {"/files", R"([{"name": "m", "path": "m", "compare": ["diff", "{seed}"]}])"}};
  for (const auto& [place, value] : faulty) {
    EXPECT_THAT(message_with(place, value), testing::HasSubstr("unknown placeholder"));
  }
  EXPECT_EQ(message_with("/processes/0/argv", R"(["./server", "{node:clint}"])"),
            "c.json, $.workload.processes[0].argv[1]: unknown placeholder {node:clint}, expected "
            "{node:server}, {node:client-1}, {node:client-2}\n  did you mean {node:client-1}? "
            "{{node:clint}} is the literal text");
  EXPECT_THAT(message_with("/prepare", R"([["make", "{port:node-{index}}"]])"),
              testing::HasSubstr("unknown placeholder {port:node-{index}}"))
      << "only a process has an index";
  EXPECT_EQ(message_with("/processes/0/argv", R"(["./server", "{port:node {index}}"])"),
            "c.json, $.workload.processes[0].argv[1]: expected {port:NAME} with a NAME of letters, "
            "digits and . _ -, found \"{port:node {index}\"\n  in a process with \"count\" also "
            "{port:NAME-{index}}; {{port:node {index} is the literal text");
  json arm = command_config();
  arm["variants"][1]["append"]["server"] = {"{tria_dir}"};
  EXPECT_THAT(message_of(arm),
              testing::StartsWith("c.json, $.variants[1].append.server[0]: unknown placeholder"));
}

TEST(BadCommandConfig, FaultyPartsOfTheJob) {
  EXPECT_EQ(message_with("/templates", R"([{"from": "a", "to": "{trial_dir}/../a"}])"),
            "c.json, $.workload.templates[0].to: expected a file below {trial_dir}, found "
            "\"{trial_dir}/../a\"\n  a copy belongs to one trial and is removed with it");
  EXPECT_THAT(message_with("/templates", R"([{"from": "a", "to": "/etc/passwd"}])"),
              testing::HasSubstr("expected a file below {trial_dir}"));
  EXPECT_EQ(message_with("/match", R"([{"role": "server", "pattern": "x"}])"),
            "c.json, $.workload.match[0].role: found \"server\" twice\n  use a different role for "
            "each process, or set \"count\"");
  EXPECT_THAT(message_with("/match", R"([{"role": "trainer", "pattern": "train(er"}])"),
              testing::HasSubstr("$.workload.match[0].pattern: \"train(er\" is not a regular"));
  EXPECT_THAT(message_with("/processes/0/rounds", R"("reference")"),
              testing::AllOf(testing::HasSubstr("$.workload.processes[0].rounds: found"),
                             testing::HasSubstr("is the role that sets the rounds of the others")));
  EXPECT_THAT(message_with("/processes/1/rounds", R"("theirs")"),
              testing::HasSubstr("expected own or reference, found \"theirs\""));
  EXPECT_THAT(message_with("/match", R"([{"role": "tr</b>", "pattern": "x"}])"),
              testing::AllOf(testing::HasSubstr("found \"tr</b>\""),
                             testing::HasSubstr("in letters, digits and _, with single -")));
  EXPECT_THAT(message_with("/processes/0/ready", R"({"log": "up["})"),
              testing::HasSubstr("$.workload.processes[0].ready.log: \"up[\" is not a regular"));
  EXPECT_EQ(message_with("/files", R"([{"name": "m", "path": "a"}, {"name": "m", "path": "b"}])"),
            "c.json, $.workload.files[1].name: found \"m\" twice");
  EXPECT_THAT(message_with("/processes/0/argv", R"(["./server", "a\u0000b"])"),
              testing::HasSubstr("$.workload.processes[0].argv[1]: found a NUL character"));
  EXPECT_THAT(message_with("/prepare", R"(["make data"])"), testing::HasSubstr("expected array"));
  EXPECT_THAT(
      message_with("/processes/1/end", R"("stop")"),
      testing::StartsWith("c.json, $.workload.processes: found \"end\": \"stop\" in every"));
}

TEST(BadCommandConfig, WarmUpRoundsThatLeaveNone) {
  json document = command_config();
  document["workload"]["rounds"] = 12;
  document["measure"]["warmup_rounds"] = 12;
  EXPECT_EQ(message_of(document),
            "c.json, $.measure.warmup_rounds: expected less than the 12 rounds of a trial "
            "(workload.rounds), found 12\n  otherwise no round remains to measure");
  document["workload"]["stop_after_round"] = 5;
  document["measure"]["warmup_rounds"] = 8;
  EXPECT_THAT(message_of(document), testing::HasSubstr("5 rounds of a trial (workload.stop_after"));
  document["workload"]["stop_after_round"] = 1;
  document["measure"]["warmup_rounds"] = 1;
  EXPECT_NO_THROW(parse_experiment(document.dump(), "c.json", "/", {}, small_provider()))
      << "the default";
}

TEST(BadCommandConfig, AVariableThatNoEnvironmentHolds) {
  EXPECT_EQ(message_with("/processes/1/env", R"({"A=B": "1"})"),
            "c.json, $.workload.processes[1].env.A=B: found the variable \"A=B\", which an "
            "environment cannot contain\n  names are not empty and have no '='; neither names nor "
            "values contain a NUL");
  EXPECT_THAT(message_with("/processes/0/env", R"({"": "1"})"),
              testing::StartsWith("c.json, $.workload.processes[0].env: found the variable \"\""));
}

TEST(BadCommandConfig, ARoleThatStandsForAGroup) {
  json named = command_config();
  named["workload"]["processes"][0]["role"] = "client_max";
  named["workload"]["processes"][1]["after"] = {"client_max"};
  named["variants"][1]["append"] = {{"client_max", {"x"}}};
  EXPECT_EQ(
      message_of(named),
      "c.json, $.workload.processes: found the role \"client_max\", which memduel uses for all "
      "of client\n  rename it");
  json matched = command_config();
  matched["workload"]["match"] = {{{"role", "client_median"}, {"pattern", "x"}}};
  EXPECT_THAT(message_of(matched), testing::HasSubstr("found the role \"client_median\""));
}

TEST(BadCommandConfig, MatchesThatContradictEachOther) {
  const auto refusal = [](const json& matches) {
    json config = command_config();
    config["workload"]["match"] = matches;
    return message_of(config);
  };
  const json two = {{"role", "w"}, {"pattern", "x"}, {"count", 2}};
  EXPECT_THAT(refusal({two, {{"role", "w"}, {"pattern", "y"}, {"count", 3}}}),
              testing::HasSubstr("match[1].count: expected the count of the first match of w"));
  EXPECT_THAT(refusal({two, {{"role", "w-1"}, {"pattern", "y"}}}),
              testing::HasSubstr("match[1].role: found \"w-1\" twice"));
  EXPECT_THAT(refusal({{{"role", "w"}, {"pattern", "x"}, {"ancestor", "clint"}}}),
              testing::HasSubstr("match[0].ancestor: expected the role of a process"));
  EXPECT_THAT(refusal({{{"role", "w"}, {"pattern", "x"}, {"port", "nowhere"}}}),
              testing::HasSubstr("match[0].port: expected the NAME of a {port:NAME} in the job"));
  EXPECT_THAT(refusal({{{"role", "w"}, {"pattern", "x {port:nowhere}"}}}),
              testing::HasSubstr("match[0].pattern: expected the NAME of a {port:NAME}"));
}

TEST(BadCommandConfig, AMatchMayNameThePortOfOneOfSeveralProcesses) {
  json config = command_config();
  config["workload"]["processes"][1]["argv"].push_back("{port:site-{index}}");
  config["workload"]["match"] = {{{"role", "w"}, {"pattern", "x"}, {"port", "site-1"}}};
  EXPECT_NO_THROW(parse_experiment(config.dump(), "c.json", "/job", {}, small_provider()));
}

TEST(BadCommandConfig, AReferenceThatIsNoProcess) {
  json unknown = command_config();
  unknown["workload"]["reference"] = "sever";
  EXPECT_EQ(message_of(unknown),
            "c.json, $.workload.reference: expected the role of a process (server, client), found "
            "\"sever\"\n  did you mean \"server\"?");
  json lent = command_config();
  lent["workload"]["reference"] = "client";
  lent["workload"]["processes"][1]["rounds"] = "reference";
  EXPECT_THAT(message_of(lent),
              testing::HasSubstr("client is the role that sets the rounds of the others"));
}

TEST(BadCommandConfig, FaultyArms) {
  json unknown = command_config();
  unknown["variants"][1]["append"] = {{"sever", {"x"}}};
  EXPECT_EQ(message_of(unknown),
            "c.json, $.variants[1].append.sever: expected the role of a process (server, client), "
            "found \"sever\"\n  did you mean \"server\"?");
  json preset = command_config();
  preset["variants"][1]["preset"] = "appfl-original";
  EXPECT_EQ(
      message_of(preset),
      "c.json, $.variants[1].preset: found \"preset\", which workloads of kind command do not use");
  json itself = command_config();
  itself["variants"][1]["twin_of"] = itself["variants"][1]["name"];
  EXPECT_THAT(message_of(itself),
              testing::HasSubstr("$.variants[1].twin_of: expected another variant"));
  json expanded = command_config();
  expanded["expanded"] = {{"workload", {{"prepare", {{"touch", "x"}}}}}};
  EXPECT_EQ(message_of(expanded),
            "c.json, $.expanded: found the output of a workload plug-in beside a workload of kind "
            "command\n  omit it");
  json same = command_config();
  same["variants"][1].erase("append");
  EXPECT_THAT(message_of(same), testing::HasSubstr("have the same program"));
}

using nlohmann::json;
using testing::HasSubstr;

json marked_config() {
  return json::parse(R"json({
    "name": "job",
    "workload": {"kind": "command", "processes": [
      {"role": "server", "argv": ["./server"]},
      {"role": "client", "count": 2, "argv": ["./client"]}],
      "match": [{"role": "trainer", "pattern": "train\\.py"}],
      "marks": [
        {"role": "trainer", "from": {"file": "train.log"}, "pattern": "Epoch (\\d+)"},
        {"role": "server", "pattern": "Round (\\d+)"},
        {"role": "server", "from": "stderr", "pattern": "acc (?<metric_accuracy>\\S+)"},
        {"role": "client", "from": {"file": "client-{index}.log"}, "pattern": "Round (\\d+)"},
        {"role": "client-2", "from": {"file": "/var/log/two"}, "pattern": "phase (?<phase>\\w+)"}]},
    "variants": [{"name": "before"}, {"name": "after", "append": {"server": ["--optimized"]}}],
    "baseline": "before"})json");
}

Experiment experiment_of(const json& document) {
  return parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
}

std::string refusal_of_mark(const json& mark) {
  json document = marked_config();
  document["workload"]["marks"] = {mark};
  const Error error = error_of([&] { experiment_of(document); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(TextMarksConfig, OfARoleWithACountMarkEachOfItsProcesses) {
  const Experiment experiment = experiment_of(marked_config());
  auto specs =
      planned_text_marks(experiment.config.workload.job, [](TextMarkSpec& mark, int index) {
        if (mark.from == TextMarkSpec::From::file) mark.file += "#" + std::to_string(index);
      });
  using From = TextMarkSpec::From;
  ASSERT_EQ(specs.size(), 6U);
  EXPECT_EQ(specs[0].role, "trainer");
  EXPECT_EQ(specs[0].file, "{trial_dir}/train.log#1");
  specs.erase(specs.begin());
  EXPECT_EQ(specs[0].role, "server");
  EXPECT_EQ(specs[0].from, From::standard_output);
  EXPECT_EQ(specs[1].from, From::standard_error);
  EXPECT_EQ(specs[2].role, "client-1");
  EXPECT_EQ(specs[2].file, "{trial_dir}/client-{index}.log#1");
  EXPECT_EQ(specs[3].role, "client-2");
  EXPECT_EQ(specs[3].file, "{trial_dir}/client-{index}.log#2");
  EXPECT_EQ(specs[4].role, "client-2");
  EXPECT_EQ(specs[4].file, "/var/log/two#2");
}

TEST(BadTextMarks, AreRefusedWithTheirPlaceAndTheNearestName) {
  EXPECT_THAT(
      refusal_of_mark({{"role", "sever"}, {"pattern", "(1)"}}),
      testing::AllOf(HasSubstr("$.workload.marks[0].role"), HasSubstr("did you mean \"server\"?")));
  EXPECT_THAT(
      refusal_of_mark({{"role", "server"}, {"from", "stdou"}, {"pattern", "(1)"}}),
      testing::AllOf(HasSubstr("$.workload.marks[0].from"), HasSubstr("did you mean \"stdout\"?")));
  EXPECT_THAT(refusal_of_mark({{"role", "server"}, {"from", json::object()}, {"pattern", "(1)"}}),
              HasSubstr("no key \"file\""));
  EXPECT_EQ(refusal_of_mark({{"role", "server"}, {"pattern", "Round (\\d+"}}),
            "c.json, $.workload.marks[0].pattern: \"Round (\\d+\" is not a regular expression: "
            "missing closing parenthesis at character 11");
  EXPECT_THAT(refusal_of_mark({{"role", "server"}, {"pattern", "Round (?<rund>\\d+)"}}),
              HasSubstr("did you mean \"round\"?"));
}

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

json logging_config() {
  return json::parse(R"json({
    "name": "job",
    "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["./server"]}],
      "metrics": {"throughput": {"better": "higher"}},
      "marks": [{"role": "server", "pattern": "(?<lower_loss>\\S+) (?<metric_throughput>\\S+) (?<metric_steps>\\d+)"}]},
    "variants": [{"name": "before"}, {"name": "after", "append": {"server": ["--optimized"]}}],
    "baseline": "before"})json");
}

Experiment logging_experiment(const json& document) {
  return parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
}

std::string refusal_of_metrics(const json& document) {
  const Error error = error_of([&] { logging_experiment(document); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(DeclaredMetrics, AreThoseOfTheKeyAndOfThePatterns) {
  const Experiment experiment = logging_experiment(logging_config());
  EXPECT_THAT(experiment.facts.better,
              ElementsAre(Pair("loss", Direction::lower), Pair("steps", Direction::undeclared),
                          Pair("throughput", Direction::higher)));
  EXPECT_THAT(logging_experiment(written_document(experiment.config)).facts.better,
              testing::SizeIs(3))
      << "of the config as it is kept";
}

TEST(DeclaredMetrics, ThatContradictEachOtherAreRefusedAtTheirPlace) {
  json of_key_and_pattern = logging_config();
  of_key_and_pattern["workload"]["metrics"]["loss"]["better"] = "higher";
  EXPECT_THAT(
      refusal_of_metrics(of_key_and_pattern),
      AllOf(HasSubstr("c.json, $.workload.marks[0].pattern: found that lower is better for "
                      "loss, but higher is better according to $.workload.metrics.loss.better"),
            HasSubstr("declare it once")));
  json of_two_patterns = logging_config();
  of_two_patterns["workload"]["marks"].push_back(
      {{"role", "server"}, {"from", "stderr"}, {"pattern", "(?<higher_loss>\\S+)"}});
  EXPECT_THAT(refusal_of_metrics(of_two_patterns), HasSubstr("$.workload.marks[1].pattern"));
  json of_the_table = logging_config();
  of_the_table["workload"]["metrics"]["train_loss"]["better"] = "higher";
  EXPECT_THAT(
      refusal_of_metrics(of_the_table),
      HasSubstr("found that higher is better for train_loss, but lower is better according to "
                "memduel list metrics"));
}

TEST(DeclaredMetrics, NeedAWordThatIsOne) {
  json document = logging_config();
  document["workload"]["metrics"]["throughput"]["better"] = "hihger";
  EXPECT_THAT(refusal_of_metrics(document), AllOf(HasSubstr("$.workload.metrics.throughput.better"),
                                                  HasSubstr("did you mean \"higher\"?")));
}

}  // namespace
}  // namespace memduel
