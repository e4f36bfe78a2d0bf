#include "experiment/config_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/test_support.h"

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
    "arms": [{"name": "before"}, {"name": "after", "append": {"server": ["--optimized"]}}],
    "baseline": "before"})");
}

std::string message_of(const json& document) {
  const Error error =
      error_of([&] { parse_experiment(document.dump(), "c.json", "/job", {}, small_catalog()); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(CommandConfig, ArmsChangeArgumentsEnvironmentAndDirectory) {
  json document = command_config();
  document["arms"][1]["argv"]["client"] = {"python3", "client.py"};
  document["arms"][1]["env"]["N"] = "2";
  document["arms"][1]["cwd"] = "other";
  const Experiment experiment =
      parse_experiment(document.dump(), "c.json", "/job", {}, small_catalog());
  const json& before = experiment.arms[0].processes;
  const json& after = experiment.arms[1].processes;
  EXPECT_EQ(before[0]["argv"], json({"./server", "--port", "{port:fl}"}));
  EXPECT_EQ(after[0]["argv"], json({"./server", "--port", "{port:fl}", "--optimized"}));
  EXPECT_EQ(after[1]["argv"], json({"python3", "client.py"}));
  EXPECT_EQ(after[1]["env"], json({{"N", "2"}}));
  EXPECT_EQ(before[0]["cwd"], "/job/");
  EXPECT_EQ(after[0]["cwd"], "/job/other");
}

TEST(CommandConfig, DirectoriesStartAtTheConfigUnlessTheyAreTheTrials) {
  EXPECT_EQ(resolve_directory("build", "/job"), "/job/build");
  EXPECT_EQ(resolve_directory("/opt", "/job"), "/opt");
  EXPECT_EQ(resolve_directory("{trial_dir}/x", "/job"), "{trial_dir}/x");
}

TEST(BadCommandConfig, FaultyProcesses) {
  json twice = command_config();
  twice["workload"]["processes"][1]["role"] = "server";
  EXPECT_EQ(message_of(twice),
            "c.json, $.workload.processes[1].role: found \"server\" twice\n  give each process its "
            "own role, or one process a count");
  json reserved = command_config();
  reserved["workload"]["processes"][1]["role"] = "tree";
  EXPECT_EQ(message_of(reserved),
            "c.json, $.workload.processes[1].role: found \"tree\", which memduel uses for groups "
            "of processes");
  json clash = command_config();
  clash["workload"]["processes"][0]["role"] = "client-2";
  clash["workload"]["processes"][1]["after"] = {"client-2"};
  EXPECT_EQ(message_of(clash),
            "c.json, $.workload.processes[1].role: found \"client-2\" twice\n  give each process "
            "its own role, or one process a count");
  json later = command_config();
  later["workload"]["processes"][0]["after"] = {"client"};
  EXPECT_EQ(message_of(later),
            "c.json, $.workload.processes[0].after: found \"client\", expected an earlier role");
  json several = command_config();
  several["workload"]["processes"][0]["ready"]["log"] = "listening";
  EXPECT_EQ(message_of(several),
            "c.json, $.workload.processes[0].ready: found several conditions, expected one of "
            "port, log, file");
  json shell = command_config();
  shell["workload"]["processes"][0]["argv"] = "./server --port 1";
  EXPECT_EQ(message_of(shell),
            "c.json, $.workload.processes[0].argv: found string \"./server --port 1\", expected "
            "array");
}

TEST(BadCommandConfig, FaultyArms) {
  json unknown = command_config();
  unknown["arms"][1]["append"] = {{"sever", {"x"}}};
  EXPECT_EQ(message_of(unknown),
            "c.json, $.arms[1].append: found unknown role \"sever\"\n  did you mean \"server\"?");
  json preset = command_config();
  preset["arms"][1]["preset"] = "appfl-original";
  EXPECT_EQ(message_of(preset),
            "c.json, $.arms[1].preset: found \"preset\", which a command workload does not use");
  json same = command_config();
  same["arms"][1].erase("append");
  EXPECT_THAT(message_of(same), testing::HasSubstr("have the same program"));
}

}  // namespace
}  // namespace memduel
