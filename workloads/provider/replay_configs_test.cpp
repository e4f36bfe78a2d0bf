#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogue.h"
#include "config/ablation.h"
#include "config/experiment.h"
#include "config/reference.h"
#include "fl/workload_keys.h"
#include "provider/datasets.h"
#include "provider/expand.h"
#include "support/made_files.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;

TEST(ReplayAblation, OfTheBuiltInPresetsStandForEverySwitchThatDiffers) {
  const Experiment experiment = parse_experiment(
      R"({"name": "appfl", "baseline": "original",
          "workload": {"kind": "federated", "model": "mnist-cnn", "dataset": {"name": "mnist"}},
          "variants": [{"name": "original", "preset": "appfl-original"},
                   {"name": "minimal", "preset": "appfl-minimal"}]})",
      "c.json", "/", {}, ask_fl);
  const Experiment ablation = ablation_experiment(experiment, {}, ask_fl);
  std::size_t differing = 0;
  for (const auto& item : experiment.variants[0].switches.items())
    if (experiment.variants[1].switches.at(item.key()) != item.value()) ++differing;
  const json switches = written_document(ablation.config).at("ablation").at("switches");
  EXPECT_EQ(switches.size(), differing);
  for (const json& one : switches) {
    if (one.at("name") == "staging") {
      EXPECT_EQ(one.at("added_alone").at("idle"), "needs aggregate=streaming_fold");
      EXPECT_EQ(one.at("removed_alone").at("variant"), "minimal-staging");
    }
  }
}

using nlohmann::json;

Experiment replay(const json& document, const Overrides& overrides = {}) {
  return parse_experiment(document.dump(), "c.json", "/", overrides, ask_fl);
}

json small_document() {
  return json::parse(federated_config(), nullptr, true, true);
}

/// The message for the small federated config after `change`; the exit code must be 2.
std::string message_after(const std::function<void(json&)>& change,
                          const Overrides& overrides = {}) {
  json document = small_document();
  change(document);
  const Error error = error_of([&] { replay(document, overrides); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(ReplayConfigs, EveryDefaultIsWrittenOut) {
  const json workload = json::parse(R"({"kind": "federated", "model": "mnist-cnn",
      "device": "cpu", "threads": 1,
      "dataset": {"name": "mnist", "seed": 42, "partition": "iid", "dirichlet_alpha": 0.5},
      "clients": 2, "rounds": 5, "local_steps": 50, "batch_size": 16, "pre_validation": false,
      "client_validation": false, "server_validation": true, "send": "weights",
      "optimizer": {"name": "adam", "learning_rate": 0.01}, "weights": "equal",
      "on_lost_client": "fail",
      "transport": {"kind": "grpc", "port": 0, "max_message_bytes": 10485760},
      "stall_seconds": 60, "deadline_seconds": 600, "seed": 1})");
  const Experiment experiment = replay(small_document());
  EXPECT_EQ(written_document(experiment.config).at("workload"), workload)
      << written_document(experiment.config).dump(2);
  EXPECT_EQ(written_document(experiment.config).at("measure").at("meters"),
            json({"procfs", "allocator", "torch"}));
  EXPECT_EQ(written_document(experiment.config).at("variants")[0].at("switches").size(),
            written_document(experiment.config).at("variants")[1].at("switches").size());
  EXPECT_EQ(experiment.config.workload.job.deadline_seconds, 600);
}

TEST(ReplayConfigs, AResolvedOneLoadsAsItselfAndAsksNobody) {
  for (const char* kind : {"federated", "simulation", "graph", "eeg"}) {
    json document = json::parse(R"({"name": "r", "baseline": "a", "workload": {},
      "variants": [{"name": "a"}, {"name": "b", "env": {"X": "1"}}]})");
    document["workload"] = {{"kind", kind}};
    if (kind != std::string("graph"))
      document["workload"]["model"] = kind == std::string("eeg") ? "cbramod" : "csfl-cnn";
    if (kind != std::string("eeg"))
      document["workload"]["dataset"] = {
          {"name", kind == std::string("graph") ? "can-generated" : "mnist"}};
    const Experiment once = replay(document);
    const auto nobody = [](const Provider&, const std::string& word, const json&) -> json {
      throw Error(ExitCode::usage, "was asked for " + word);
    };
    const Experiment again =
        parse_experiment(written_document(once.config).dump(), "config.json", "/", {}, nobody);
    EXPECT_EQ(written_document(again.config), written_document(once.config));
    EXPECT_EQ(again.config_sha256, once.config_sha256);
    Overrides resumed;
    resumed.resumed = once.config;
    EXPECT_EQ(
        written_document(parse_experiment(document.dump(), "c.json", "/", resumed, nobody).config),
        written_document(once.config))
        << kind;
  }
}

TEST(ReplayConfigs, AnArmKeepsThePresetWhoseValuesItHas) {
  const json document = json::parse(R"({"name": "r", "baseline": "a",
      "workload": {"kind": "federated", "model": "csfl-cnn", "dataset": {"name": "mnist"}},
      "variants": [{"name": "a", "preset": "appfl-original"},
               {"name": "b", "preset": "appfl-optimized", "switches": {"cleanup": "trim"}},
               {"name": "c", "preset": "appfl-optimized", "switches": {"cleanup": "none"}}]})");
  const json arms = written_document(replay(document).config).at("variants");
  EXPECT_EQ(arms[0].value("preset", ""), "appfl-original");
  EXPECT_EQ(arms[1].value("preset", ""), "appfl-optimized") << "trim is the preset's own";
  EXPECT_FALSE(arms[2].contains("preset"));
}

TEST(ReplayConfigs, ASeedIsSetWithoutAskingAgain) {
  const Experiment once = replay(small_document());
  EXPECT_EQ(once.config.workload.job.seed, 1U);
  Overrides overrides;
  overrides.set = {"workload.seed=5"};
  const Experiment again = replay(written_document(once.config), overrides);
  EXPECT_EQ(again.config.workload.job.seed, 5U);
  EXPECT_EQ(written_document(again.config).at("workload").at("seed"), 5);
  EXPECT_EQ(written_document(again.config).at("expanded").at("workload").at("seed"), 5);
}

TEST(BadReplay, UnknownKey) {
  EXPECT_EQ(
      message_after([](json& c) { c["workload"]["epochs"] = 3; }),
      "c.json, $.workload.epochs: found unknown key \"epochs\"\n  expected batch_size, "
      "client_validation, clients, dataset, deadline_seconds, device, kind, local_steps, "
      "model, on_lost_client, optimizer, pre_validation, rounds, seed, send, server_validation, "
      "stall_seconds, threads, topology, transport, validation_batch_size, weights");
  EXPECT_EQ(message_after([](json& c) { c["workload"]["round"] = 3; }),
            "c.json, $.workload.round: found unknown key \"round\"\n  did you mean \"rounds\"?");
}

TEST(BadReplay, WrongTypeOrRange) {
  EXPECT_EQ(
      message_after([](json& c) { c["workload"]["clients"] = "two"; }),
      "c.json, $.workload.clients: expected integer, found string \"two\"\n  Number of clients.");
  EXPECT_EQ(message_after([](json& c) { c["workload"]["rounds"] = 2.5; }),
            "c.json, $.workload.rounds: expected integer, found number 2.5\n  Number of rounds.");
  EXPECT_EQ(message_after([](json& c) { c["workload"]["clients"] = 0; }),
            "c.json, $.workload.clients: expected an integer from 1 to 256, found 0\n  Number of "
            "clients.");
  Overrides overrides;
  overrides.set = {"workload.clients=0"};
  EXPECT_EQ(message_after([](json&) {}, overrides),
            "c.json, $.workload.clients (--set workload.clients=0): expected an integer from 1 to "
            "256, found 0\n  Number of clients.");
  EXPECT_EQ(message_after([](json& c) { c["workload"].erase("model"); }),
            "c.json, $.workload: found no key \"model\", which is required\n  Model; memduel list "
            "models describes them.");
}

TEST(ReplaySchema, IsMadeOfTheKeys) {
  expect_file(MEMDUEL_CONFIGS "/schema/fl.schema.json", schema_text(fl_schema_in_order()));
}

TEST(ReplaySchema, DescribesTheDataSetsThatCanBeFound) {
  std::vector<std::string> known;
  for (const Dataset& dataset : known_datasets()) known.push_back(dataset.name);
  std::vector<std::string> described;
  const json schema = fl_schema_in_order();
  for (const char* kind : {"dataset", "graph_dataset", "eeg_dataset"})
    for (const auto& name : schema["definitions"][kind]["properties"]["name"]["enum"])
      described.push_back(name);
  EXPECT_EQ(described, known);
}

TEST(ReplaySchema, EveryConfigOfTheProjectIsValidAndResolvedLoadsAsItself) {
  const std::filesystem::path configs = std::filesystem::path(MEMDUEL_CONFIGS);
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(configs)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "switches.json") {
      continue;
    }
    json once;
    EXPECT_NO_THROW(once = written_document(load_experiment(entry.path(), {}, ask_fl).config))
        << entry.path();
    EXPECT_EQ(written_document(parse_experiment(once.dump(), "c.json", "/", {}, ask_fl).config),
              once)
        << entry.path();
    ++count;
  }
  EXPECT_GE(count, 1);
}

TEST(ReplaySchema, EverySuiteOfTheProjectIsValid) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(MEMDUEL_CONFIGS) / "suites")) {
    const Suite suite = load_suite(entry.path());
    for (const SuiteExperiment& one : suite.experiments) {
      Overrides overrides;
      overrides.set = one.set;
      EXPECT_NO_THROW(load_experiment(one.config, overrides, ask_fl)) << one.name;
      ++count;
    }
  }
  EXPECT_GE(count, 9);
}

// After two rounds and a fifth of all for warm-up, a growth verdict needs four.
TEST(ReplayConfigs, ThoseOfLongRunsHaveTheRunsAndRoundsThatAGrowthVerdictNeeds) {
  constexpr int kLeastRuns = 6;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MEMDUEL_CONFIGS)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("csfl-") && !name.starts_with("nvflare")) continue;
    const Experiment experiment = load_experiment(entry.path(), {}, ask_fl);
    EXPECT_GE(experiment.config.measure.repeats, kLeastRuns) << name;
    EXPECT_GE(experiment.config.workload.job.rounds.value_or(0), 8) << name;
    ++count;
    if (!name.starts_with("nvflare-matrix")) continue;
    for (const Variant& arm : experiment.variants)
      EXPECT_TRUE(arm.allocator && arm.name.starts_with(name_of(*arm.allocator))) << arm.name;
  }
  EXPECT_EQ(count, 7);
  const Experiment fine_tunings =
      load_experiment(MEMDUEL_CONFIGS "/cbramod-quick.json", {}, ask_fl);
  EXPECT_GE(fine_tunings.config.measure.repeats, kLeastRuns);
}

TEST(BadReplay, UnknownValue) {
  EXPECT_EQ(message_after([](json& c) { c["workload"]["kind"] = "federate"; }),
            "c.json, $.workload.kind: expected federated or state-dict or simulation or graph or "
            "eeg or command, found \"federate\"\n  did you mean \"federated\"?");
  EXPECT_EQ(message_after([](json& c) { c["workload"]["dataset"]["name"] = "imagenet"; }),
            "c.json, $.workload.dataset.name: expected mnist or cifar10 or dummy-cifar10, found "
            "\"imagenet\"");
}

}  // namespace
}  // namespace memduel
