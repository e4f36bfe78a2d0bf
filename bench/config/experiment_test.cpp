#include "config/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "config/config_json.h"
#include "config/read_document.h"
#include "external/tracers.h"
#include "meters/meter_registry.h"
#include "support/small_experiment.h"
#include "util/bytes.h"

namespace memduel {
namespace {

using nlohmann::json;

/// The message for the small federated config after `change`; the exit code must be 2.
std::string message_after(const std::function<void(json&)>& change,
                          const Overrides& overrides = {}) {
  json document = json::parse(federated_config(), nullptr, true, true);
  change(document);
  const Error error = error_of(
      [&] { parse_experiment(document.dump(), "c.json", "/", overrides, small_provider()); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(Config, DefaultsAndPresetsAreWrittenOut) {
  const Experiment experiment = federated_experiment();
  const json resolved = written_document(experiment.config);
  EXPECT_EQ(resolved.at("measure"), json::parse(R"({"repeats": 2, "warmups": 1, "warmup_rounds": 1,
      "interval_ms": 2, "meters": ["procfs", "allocator", "torch"], "seed": 1, "order": "restricted"})"));
  EXPECT_EQ(resolved.at("gates"), json::array());
  EXPECT_EQ(resolved.at("variants")[1].at("switches"),
            json({{"serialize", "scoped"}, {"piece_bytes", 1048576}}));
  EXPECT_EQ(experiment.config_sha256, sha256_hex(resolved.dump()));
  ASSERT_EQ(experiment.variants.size(), 2U);
  EXPECT_EQ(experiment.variants[1].switches["serialize"], "scoped");
  EXPECT_EQ(experiment.config.measure.repeats, 2);
}

TEST(Config, TheOrdersSeedIsTheRunsAndTheWorkloadsIsTheSameForAll) {
  const auto seeds = [](const char* measure, const Overrides& overrides) {
    json config = json::parse(federated_config(), nullptr, true, true);
    config["measure"] = json::parse(measure);
    const Experiment experiment =
        parse_experiment(config.dump(), "c.json", "/tmp", overrides, small_provider());
    return std::pair(experiment.config.measure.seed.value_or(0),
                     experiment.config.workload.job.seed.value_or(0));
  };
  Overrides drawn;
  drawn.drawn_seed = 77;
  EXPECT_EQ(seeds("{}", drawn), std::pair(std::uint64_t{77}, std::uint64_t{1}));
  EXPECT_EQ(seeds(R"({"seed": 5})", drawn), std::pair(std::uint64_t{5}, std::uint64_t{5}))
      << "an explicit measure.seed sets both";
  drawn.seed = 9;
  EXPECT_EQ(seeds("{}", drawn), std::pair(std::uint64_t{9}, std::uint64_t{1})) << "--seed";
}

TEST(Config, TheResolvedConfigLoadsAsItself) {
  Overrides overrides;
  overrides.calibrate = true;
  const Experiment once = federated_experiment(overrides);
  const Experiment again = parse_experiment(written_document(once.config).dump(), "config.json",
                                            "/", {}, small_provider());
  EXPECT_EQ(written_document(again.config), written_document(once.config));
  EXPECT_EQ(again.config_sha256, once.config_sha256);
}

TEST(Config, OverridesChangeWhatTheFileSays) {
  Overrides overrides;
  overrides.set = {"workload.rounds=9", "variants.optimized.env.OMP_NUM_THREADS=\"2\""};
  overrides.repeats = 12;
  overrides.gates = {"all.peak_rss_bytes<=+2%"};
  const Experiment experiment = federated_experiment(overrides);
  EXPECT_EQ(written_document(experiment.config)["workload"]["rounds"], 9);
  EXPECT_EQ(experiment.variants[1].env.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(experiment.config.measure.repeats, 12);
  EXPECT_THAT(experiment.config.gates, testing::ElementsAre("all.peak_rss_bytes<=+2%"));
  EXPECT_NE(experiment.config_sha256, federated_experiment().config_sha256);
}

TEST(Config, CalibrateAddsATwinOfTheBaseline) {
  Overrides overrides;
  overrides.calibrate = true;
  overrides.arms = {{"original"}};
  const Experiment experiment = federated_experiment(overrides);
  ASSERT_EQ(experiment.variants.size(), 2U);
  EXPECT_EQ(experiment.variants[1].name, "original-twin");
  EXPECT_EQ(experiment.variants[1].twin_of, "original");
  EXPECT_EQ(experiment.variants[1].switches, experiment.variants[0].switches);
}

TEST(Config, ArmsOnTheCommandLineKeepTheOrderOfTheFile) {
  Overrides overrides;
  overrides.arms = {{"optimized", "original"}};
  const Experiment experiment = federated_experiment(overrides);
  ASSERT_EQ(experiment.variants.size(), 2U);
  EXPECT_EQ(experiment.variants[0].name, "original");
}

TEST(BadConfig, UnknownKey) {
  EXPECT_EQ(message_after([](json& c) { c["mesure"] = json::object(); }),
            "c.json, $.mesure: found unknown key \"mesure\"\n  did you mean \"measure\"?");
}

TEST(BadConfig, WrongType) {
  EXPECT_EQ(message_after([](json& c) { c["variants"][1]["env"]["N"] = 2; }),
            "c.json, $.variants[1].env.N: expected string, found integer 2\n  write it in quotes: "
            "\"2\", or --set 'variants.1.env.N=\"2\"'");
  EXPECT_EQ(message_after([](json& c) { c = json::array(); }),
            "c.json, $: expected object, found array []\n  A workload, two or more variants, and "
            "how to measure them.");
}

TEST(BadConfig, ValueOutOfRange) {
  EXPECT_EQ(message_after([](json& c) { c["measure"]["repeats"] = 0; }),
            "c.json, $.measure.repeats: expected an integer from 1 to 10000, found 0\n  Number of "
            "blocks (trials of each variant). Default: until decided, with interim analyses after "
            "6, 10 and 16 blocks, or after 8 and 16 with two or more candidates.");
}

TEST(BadConfig, MissingKey) {
  EXPECT_EQ(message_after([](json& c) { c.erase("baseline"); }),
            "c.json, $: found no key \"baseline\", which is required\n  Name of the variant with "
            "which the others are compared.");
}

TEST(Config, AnAllocatorAloneMakesAnotherArm) {
  Overrides overrides;
  overrides.set = {"variants.optimized.preset=appfl-original",
                   "variants.optimized.allocator=jemalloc"};
  const Experiment experiment = federated_experiment(overrides);
  EXPECT_FALSE(experiment.variants[0].allocator);
  EXPECT_EQ(experiment.variants[1].allocator, Allocator::jemalloc);
  EXPECT_FALSE(written_document(experiment.config).at("variants")[0].contains("allocator"));
  EXPECT_EQ(written_document(experiment.config).at("variants")[1].at("allocator"), "jemalloc");
}

TEST(BadConfig, FaultyArms) {
  EXPECT_EQ(message_after([](json& c) { c["variants"][1]["allocator"] = "jemaloc"; }),
            "c.json, $.variants[1].allocator: expected glibc or jemalloc or tcmalloc or mimalloc, "
            "found \"jemaloc\"\n  did you mean \"jemalloc\"?");
  EXPECT_EQ(message_after([](json& c) { c["variants"][1]["name"] = "original"; }),
            "c.json, $.variants[1].name: found the variant name \"original\" twice\n  use a "
            "different name for every variant");
  EXPECT_EQ(message_after([](json& c) { c["baseline"] = "orginal"; }),
            "c.json, $.baseline: expected the name of a variant (original, optimized), found "
            "\"orginal\"\n  did you mean \"original\"?");
  EXPECT_EQ(message_after([](json& c) { c["variants"].erase(1); }),
            "c.json, $.variants: expected two or more variants, found one\n  add a variant");
  EXPECT_EQ(
      message_after([](json& c) { c["variants"][1]["preset"] = "appfl-original"; }),
      "c.json, $.variants[1]: the variants \"original\" and \"optimized\" have the same program, "
      "arguments, environment and directory\n  use different commands, or measure the noise with "
      "--calibrate");
  EXPECT_EQ(message_after([](json& c) { c["variants"][1]["twin_of"] = "nobody"; }),
            "c.json, $.variants[1].twin_of: expected the name of a variant (original, optimized), "
            "found \"nobody\"");
  EXPECT_EQ(message_after([](json& c) { c["variants"][0]["argv"]["server"] = {"x"}; }),
            "c.json, $.variants[0].argv: expected preset, switches, env or allocator (the workload "
            "plug-in of kind \"federated\" sets everything else), found \"argv\"");
  EXPECT_EQ(
      message_after([](json& c) { c["variants"][0]["env"]["A=B"] = "x"; }),
      "c.json, $.variants[0].env.A=B: found the variable \"A=B\", which an environment cannot "
      "contain\n  names are not empty and have no '='; neither names nor values contain a NUL");
}

TEST(BadConfig, UnknownPresetOptimizationOrValue) {
  EXPECT_EQ(
      message_after([](json& c) { c["variants"][1]["preset"] = "appfl-optimised"; }),
      "c.json, $.variants[1].preset: found unknown preset \"appfl-optimised\" for workloads of "
      "kind federated\n  did you mean \"appfl-optimized\"?");
  EXPECT_EQ(
      message_after([](json& c) { c["variants"][1]["switches"]["serialise"] = "scoped"; }),
      "c.json, $.variants[1].switches.serialise: found unknown switch \"serialise\"\n  did you "
      "mean \"serialize\"?");
  EXPECT_EQ(message_after([](json& c) { c["variants"][1]["switches"]["serialize"] = "scope"; }),
            "c.json, $.variants[1].switches.serialize: expected buffered or scoped, found "
            "\"scope\" for switch \"serialize\"\n  did you mean \"scoped\"?");
  EXPECT_EQ(message_after([](json& c) { c["variants"][1]["switches"]["piece_bytes"] = 5; }),
            "c.json, $.variants[1].switches.piece_bytes: expected 1048576 or 262144, found 5 for "
            "switch \"piece_bytes\"");
}

TEST(BadConfig, FaultyCommandLine) {
  const auto message = [](const std::function<void(Overrides&)>& change) {
    Overrides overrides;
    change(overrides);
    return message_after([](json&) {}, overrides);
  };
  EXPECT_EQ(message([](Overrides& o) { o.arms = {{"original", "optimised"}}; }),
            "--variants: expected the name of a variant (original, optimized), found "
            "\"optimised\"\n  did you mean \"optimized\"?");
  EXPECT_EQ(message([](Overrides& o) { o.arms = {{"optimized"}}; }),
            "--variants, baseline: expected the name of a variant (optimized), found \"original\"");
}

TEST(BadConfig, TextThatIsNotUtf8) {
  std::string text = federated_config();
  text.replace(text.find("small"), 1, "\xff");
  const Error error =
      error_of([&] { parse_experiment(text, "c.json", "/", {}, small_provider()); });
  EXPECT_EQ(error.code(), ExitCode::usage);
}

TEST(BadConfig, AMissingFileIsAnIoError) {
  const Error error = error_of([] { load_experiment("/nowhere/c.json", {}, small_provider()); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.where(), "/nowhere/c.json");
}

TEST(BadConfig, ARunsDirectoryIsAnIoErrorThatNamesTheConfigInIt) {
  const std::filesystem::path run = std::filesystem::path(testing::TempDir()) / "a-run";
  std::filesystem::create_directories(run);
  std::ofstream(run / "config.json") << "{}";
  const Error error = error_of([&] { load_experiment(run, {}, small_provider()); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_THAT(error.advice(), testing::HasSubstr((run / "config.json").string()));
}

TEST(BadConfig, AMisspeltKindIsTakenForNoProviders) {
  const AskProvider none = [](const Provider&, const std::string&, const json&) -> json {
    throw Error(ExitCode::io, "cannot be started", "memduel-fl");
  };
  const char* config = R"({"name": "c", "baseline": "a", "workload": {"kind": "comand",
    "processes": [{"role": "p", "argv": ["./p"]}]},
    "variants": [{"name": "a"}, {"name": "b", "argv": {"p": ["./q"]}}]})";
  EXPECT_EQ(error_of([&] { parse_experiment(config, "c.json", "/", {}, none); }).message(),
            "c.json, line 1, $.workload.kind: expected a kind of an installed workload plug-in, "
            "found \"comand\"\n  did you mean \"command\"?");
  const AskProvider with_kinds = [](const Provider& provider, const std::string& word,
                                    const json& request) {
    json answer = small_provider()(provider, word, request);
    answer["kinds"] = {"federated"};
    return answer;
  };
  EXPECT_EQ(error_of([&] { parse_experiment(config, "c.json", "/", {}, with_kinds); }).message(),
            "c.json, line 1, $.workload.kind: expected federated or command, found \"comand\"\n  "
            "did you mean \"command\"?");
}

TEST(Config, SaysWhereItsGatesStand) {
  json document = json::parse(federated_config(), nullptr, true, true);
  document["gates"] = {"all.peak_rss_bytes<=+1%"};
  Overrides overrides;
  EXPECT_THAT(
      parse_experiment(document.dump(), "c.json", "/", overrides, small_provider()).gate_places,
      ElementsAre("c.json, $.gates[0]"));
  overrides.set = {R"(gates=["all.peak_rss_bytes<=+2%"])"};
  EXPECT_THAT(
      parse_experiment(document.dump(), "c.json", "/", overrides, small_provider()).gate_places,
      ElementsAre(R"(c.json, $.gates[0] (--set gates=["all.peak_rss_bytes<=+2%"]))"));
  overrides.gates = {"all.peak_rss_bytes<=+2%"};
  EXPECT_THAT(
      parse_experiment(document.dump(), "c.json", "/", overrides, small_provider()).gate_places,
      testing::IsEmpty());
}

TEST(Schema, DescribesTheMetersOfTheRegistry) {
  std::vector<std::string> known;
  for (const MeterEntry& meter : meters()) known.push_back(meter.name);
  const auto& property = experiment_schema()["definitions"]["measure"]["properties"]["meters"];
  EXPECT_EQ(property["items"]["enum"], known);
}

TEST(Schema, DescribesTheTracersOfTheRegistry) {
  std::vector<std::string> known;
  for (const TracerEntry& tracer : tracers()) known.push_back(tracer.name);
  const auto& property = experiment_schema()["definitions"]["profile"]["properties"]["profilers"];
  EXPECT_EQ(property["items"]["enum"], known);
}

TEST(Config, ProfilesAreByTheRecorderUnlessItSaysOtherwise) {
  Overrides overrides;
  overrides.set = {"profile.trials=2"};
  EXPECT_EQ(federated_experiment(overrides).config.profile->profilers,
            std::vector<std::string>{"recorder"});
  overrides.set = {R"(profile.profilers=["heaptrack", "recorder"])"};
  const Experiment experiment = federated_experiment(overrides);
  EXPECT_EQ(experiment.config.profile->profilers,
            (std::vector<std::string>{"heaptrack", "recorder"}));
  EXPECT_EQ(experiment.config.profile->trials, 1);
}

TEST(BadConfig, AnUnknownTracerSuggestsTheNearest) {
  Overrides overrides;
  overrides.set = {R"(profile.profilers=["heaptrak"])"};
  const Error error = error_of([&] { federated_experiment(overrides); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.message(), testing::AllOf(testing::HasSubstr("profile.profilers[0]"),
                                              testing::HasSubstr("did you mean \"heaptrack\"?")));
}

}  // namespace
}  // namespace memduel
