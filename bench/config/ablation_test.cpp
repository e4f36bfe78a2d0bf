#include "config/ablation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/small_experiment.h"
#include "tree.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// fold, staging (which matters only with fold on), framing, gradient (only where those are sent),
/// squeeze (which it refuses together with fold).
AskProvider five_switches() {
  const AskProvider all = provider_with(json::parse(R"([
    {"name": "fold", "summary": "", "applies_to": ["federated"],
     "values": [{"value": "off", "summary": ""}, {"value": "on", "summary": ""}]},
    {"name": "staging", "summary": "", "applies_to": ["federated"],
     "values": [{"value": "memory", "summary": ""}, {"value": "file", "summary": ""}]},
    {"name": "framing", "summary": "", "applies_to": ["federated"],
     "values": [{"value": 1, "summary": ""}, {"value": 2, "summary": ""}]},
    {"name": "gradient", "summary": "", "applies_to": ["federated"],
     "values": [{"value": "kept", "summary": ""}, {"value": "dropped", "summary": ""}]},
    {"name": "squeeze", "summary": "", "applies_to": ["federated"],
     "values": [{"value": "off", "summary": ""}, {"value": "on", "summary": ""}]}])"));
  return [=](const Provider& provider, const std::string& word, const json& request) {
    json answer = all(provider, word, request);
    if (word == "catalogue") return answer;
    for (std::size_t i = 0; i < answer["variants"].size(); ++i) {
      const json& chosen = request.at("variants")[i].at("switches");
      if (chosen.at("squeeze") == "on" && chosen.at("fold") == "on")
        throw Error(ExitCode::usage, "squeeze=on needs fold=off", "$.variants");
      json& idle = answer["variants"][i]["idle"] = json::object();
      if (chosen.at("fold") == "off") idle["staging"] = "needs fold=on";
      if (request.at("workload").value("send", "") != "gradient")
        idle["gradient"] = "needs workload.send=gradient";
    }
    return answer;
  };
}

Experiment experiment_of(const std::string& arms, const char* more = "") {
  return parse_experiment(
      R"({"name": "duel", "baseline": "old", "measure": {"repeats": 8},
          "workload": {"kind": "federated", "model": "mnist-cnn", "dataset": {"name": "mnist"})" +
          std::string(more) + R"(}, "variants": )" + arms + "}",
      "c.json", "/", {}, five_switches());
}

std::vector<std::string> names_of(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const Variant& arm : experiment.variants) names.push_back(arm.name);
  return names;
}

const Variant& arm_of(const Experiment& experiment, const std::string& name) {
  return *std::ranges::find(experiment.variants, name, &Variant::name);
}

constexpr const char* kAll = R"([{"name": "old"},
  {"name": "new", "switches":
    {"fold": "on", "staging": "file", "framing": 2, "gradient": "dropped"}}])";

TEST(AblationArms, AddEverySwitchToTheOneAndLeaveItOutOfTheOther) {
  const Experiment ablation = ablation_experiment(experiment_of(kAll), {}, five_switches());
  EXPECT_EQ(ablation.config.name, "duel-ablation");
  EXPECT_EQ(ablation.config.measure.repeats, kAblationBlocks);
  EXPECT_THAT(names_of(ablation), ElementsAre("old", "new", "old+fold", "new-fold", "new-staging",
                                              "old+framing", "new-framing"));
  EXPECT_EQ(arm_of(ablation, "old+framing").switches, json({{"fold", "off"},
                                                            {"staging", "memory"},
                                                            {"framing", 2},
                                                            {"gradient", "kept"},
                                                            {"squeeze", "off"}}));
  EXPECT_EQ(arm_of(ablation, "new-framing").switches, json({{"fold", "on"},
                                                            {"staging", "file"},
                                                            {"framing", 1},
                                                            {"gradient", "dropped"},
                                                            {"squeeze", "off"}}));
}

TEST(AblationArms, SayWhyASwitchHasNoArmWhereItCouldChangeNothing) {
  const Experiment ablation = ablation_experiment(experiment_of(kAll), {}, five_switches());
  const json switches = written_document(ablation.config).at("ablation").at("switches");
  EXPECT_EQ(switches.at(1), json({{"name", "staging"},
                                  {"added_alone", {{"idle", "needs fold=on"}}},
                                  {"removed_alone", {{"variant", "new-staging"}}}}));
  EXPECT_EQ(switches.at(3), json({{"name", "gradient"},
                                  {"added_alone", {{"idle", "needs workload.send=gradient"}}},
                                  {"removed_alone", {{"idle", "needs workload.send=gradient"}}}}));
  const Experiment sending =
      ablation_experiment(experiment_of(kAll, R"(, "send": "gradient")"), {}, five_switches());
  EXPECT_EQ(written_document(sending.config).at("ablation").at("switches").at(3).at("added_alone"),
            json({{"variant", "old+gradient"}}));
}

TEST(AblationArms, AreNotMadeWhereTheyWouldNotRun) {
  const char* arms = R"([{"name": "old", "switches": {"squeeze": "on"}},
    {"name": "new", "switches": {"fold": "on", "framing": 2}}])";
  const Experiment ablation = ablation_experiment(experiment_of(arms), {}, five_switches());
  const json switches = written_document(ablation.config).at("ablation").at("switches");
  // fold added to old, and the old squeeze put back into new, would be both at once.
  EXPECT_EQ(switches.at(0).at("added_alone").at("refused"), "squeeze=on needs fold=off");
  EXPECT_EQ(switches.at(2).at("removed_alone").at("refused"), "squeeze=on needs fold=off");
  EXPECT_THAT(names_of(ablation),
              ElementsAre("old", "new", "new-fold", "old+framing", "new-framing", "old+squeeze"));
}

TEST(AblationArms, RunNoProgramTwice) {
  const char* two = R"([{"name": "old"},
    {"name": "new", "switches": {"fold": "on", "framing": 2}}])";
  const Experiment ablation = ablation_experiment(experiment_of(two), {}, five_switches());
  // The new one without fold is the old one with framing.
  EXPECT_THAT(names_of(ablation), ElementsAre("old", "new", "old+fold", "new-fold"));
  const json switches = written_document(ablation.config).at("ablation").at("switches");
  EXPECT_EQ(switches.at(1).at("name"), "framing");
  EXPECT_EQ(switches.at(1).at("added_alone").at("variant"), "new-fold");
  EXPECT_EQ(switches.at(1).at("removed_alone").at("variant"), "old+fold");
}

TEST(AblationArms, TakeAVariableOfTheEnvironmentForASwitch) {
  const char* arms = R"([{"name": "old", "env": {"A": "1", "B": "2"}},
    {"name": "new", "env": {"B": "3", "C": "4"}, "switches": {"framing": 2}}])";
  const Experiment ablation = ablation_experiment(experiment_of(arms), {}, five_switches());
  using Env = std::map<std::string, std::string>;
  EXPECT_EQ(arm_of(ablation, "old+A").env, (Env{{"B", "2"}}));
  EXPECT_EQ(arm_of(ablation, "old+B").env, (Env{{"A", "1"}, {"B", "3"}}));
  EXPECT_EQ(arm_of(ablation, "new-C").env, (Env{{"B", "3"}}));
  EXPECT_EQ(arm_of(ablation, "new-A").env, (Env{{"A", "1"}, {"B", "3"}, {"C", "4"}}));
}

TEST(AblationArms, TakeTheAllocatorForASwitch) {
  const char* arms = R"([{"name": "old", "allocator": "glibc"},
    {"name": "new", "allocator": "jemalloc", "switches": {"framing": 2}}])";
  const Experiment ablation = ablation_experiment(experiment_of(arms), {}, five_switches());
  EXPECT_EQ(arm_of(ablation, "old+framing").allocator, Allocator::glibc);
  EXPECT_EQ(arm_of(ablation, "new-framing").allocator, Allocator::jemalloc);
  const json allocator = written_document(ablation.config).at("ablation").at("switches").at(1);
  EXPECT_EQ(allocator.at("name"), "allocator");
  EXPECT_EQ(allocator.at("added_alone").at("variant"), "new-framing") << "of two, the same";
  EXPECT_EQ(allocator.at("removed_alone").at("variant"), "old+framing");
}

TEST(AblationArms, AreOfTheArmsThatWereAskedFor) {
  const char* three = R"([{"name": "old"}, {"name": "mid", "switches": {"fold": "on"}},
    {"name": "new", "switches": {"fold": "on", "framing": 2}}])";
  const Experiment experiment = experiment_of(three);
  EXPECT_EQ(written_document(ablation_experiment(experiment, {}, five_switches()).config)
                .at("ablation")
                .at("candidate"),
            "new");
  const Experiment chosen =
      ablation_experiment(experiment, {"mid", std::nullopt, 5}, five_switches());
  EXPECT_EQ(chosen.config.baseline, "mid");
  EXPECT_EQ(chosen.config.measure.repeats, 5);
  EXPECT_THAT(names_of(chosen), ElementsAre("mid", "new"));
  const Error unknown =
      error_of([&] { ablation_experiment(experiment, {std::nullopt, "nev"}, five_switches()); });
  EXPECT_EQ(unknown.code(), ExitCode::usage);
  EXPECT_THAT(unknown.message(), testing::AllOf(HasSubstr("--candidate"), HasSubstr("\"new\"")));
}

TEST(AblationArms, NeedADifference) {
  const Experiment same = experiment_of(R"([{"name": "old"}, {"name": "new", "env": {"A": "1"}}])");
  EXPECT_THAT(error_of([&] {
                ablation_experiment(same, {std::nullopt, "old"}, five_switches());
              }).message(),
              HasSubstr("have the same switches"));
}

TEST(AblationArms, HaveNamesThatTheSchemaTakes) {
  const std::string longest(60, 'x');
  const Experiment ablation = ablation_experiment(
      experiment_of(R"([{"name": "old"}, {"name": ")" + longest +
                    R"(", "env": {"A B": "1"}, "switches": {"framing": 2, "fold": "on"}}])"),
      {}, five_switches());
  EXPECT_THAT(
      names_of(ablation),
      ElementsAre("old", longest, "old+fold", std::string(55, 'x') + "-fold", "old+framing",
                  std::string(52, 'x') + "-framing", "old+A_B", std::string(56, 'x') + "-A_B"));
}

TEST(AblationArms, OfACommandAreRefused) {
  const Experiment command = parse_experiment(
      R"({"name": "c", "baseline": "a", "workload": {"kind": "command",
          "processes": [{"role": "command", "argv": ["/bin/true"]}]},
          "variants": [{"name": "a"}, {"name": "b", "env": {"X": "1"}}]})",
      "c.json", "/", {}, five_switches());
  EXPECT_EQ(error_of([&] { ablation_experiment(command, {}); }).message(),
            "c: a command workload has no switches\n  \"a\" and \"b\" differ in X: "
            "give each of them its own variant, which is \"a\" with that alone, and memduel run "
            "compares them all");
}

TEST(AblationArms, OfAnotherConfigAreRefusedWhenTheyDoNotExist) {
  json document =
      written_document(ablation_experiment(experiment_of(kAll), {}, five_switches()).config);
  document["ablation"]["switches"][0]["removed_alone"]["variant"] = "gone";
  EXPECT_THAT(error_of([&] {
                parse_experiment(document.dump(), "c.json", "/", {}, five_switches());
              }).message(),
              HasSubstr("$.ablation.switches[0].removed_alone.variant"));
}

TEST(AblationArms, GoWithTheirSectionWhenOnlySomeArmsAreAskedFor) {
  const json document =
      written_document(ablation_experiment(experiment_of(kAll), {}, five_switches()).config);
  Overrides overrides;
  overrides.arms = {"old", "new"};
  const Experiment two =
      parse_experiment(document.dump(), "c.json", "/", overrides, five_switches());
  EXPECT_THAT(names_of(two), ElementsAre("old", "new"));
  EXPECT_FALSE(written_document(two.config).contains("ablation"));
}

using nlohmann::json;
using testing::HasSubstr;

json expanded(const json& arms) {
  ConfigTree tree{{{"variants", arms}}, Places("c.json")};
  expand_matrices(tree);
  return tree.root["variants"];
}

std::string refusal(const json& arms) {
  try {
    expanded(arms);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "no error";
}

TEST(ArmMatrix, IsAnArmForEveryCombinationInTheOrderOfTheAxes) {
  const json arms =
      expanded({{{"name", "base"}},
                {{"name", "glibc"},
                 {"allocator", "glibc"},
                 {"switches", {{"cleanup", "none"}}},
                 {"matrix",
                  {{{"2", {{"switches", {{"arenas", 2}}}}}, {"8", {{"switches", {{"arenas", 8}}}}}},
                   {{"gc-1", {{"switches", {{"gc", 1}}}}}, {"gc-5", {{"env", {{"N", "5"}}}}}}}}}});
  ASSERT_EQ(arms.size(), 5U);
  EXPECT_EQ(arms[0], json({{"name", "base"}}));
  EXPECT_EQ(arms[1], json({{"name", "glibc-2-gc-1"},
                           {"allocator", "glibc"},
                           {"switches", {{"cleanup", "none"}, {"arenas", 2}, {"gc", 1}}}}));
  EXPECT_EQ(arms[4], json({{"name", "glibc-8-gc-5"},
                           {"allocator", "glibc"},
                           {"switches", {{"cleanup", "none"}, {"arenas", 8}}},
                           {"env", {{"N", "5"}}}}));
}

TEST(ArmMatrix, WhatIsNoListOfAxesIsRefusedWithItsPlace) {
  const auto with = [](const json& matrix) {
    return json::array({{{"name", "a"}, {"matrix", matrix}}});
  };
  EXPECT_THAT(refusal(with(3)),
              HasSubstr("c.json, $.variants[0].matrix: expected at least one axis"));
  EXPECT_THAT(refusal(with(json::array())), HasSubstr("expected at least one axis"));
  EXPECT_THAT(refusal(with(json::array({json::object()}))),
              HasSubstr("$.variants[0].matrix[0]: expected at least one name"));
  EXPECT_THAT(refusal(with(json::array({{{"x", 1}}}))),
              HasSubstr("$.variants[0].matrix[0].x: expected an object of keys"));
  EXPECT_THAT(refusal(with(json::array({{{"x", {{"name", "b"}}}}}))), HasSubstr("found a name"));
  EXPECT_THAT(refusal(json::array({{{"matrix", {{{"x", json::object()}}}}}})),
              HasSubstr("expected a name before it"));
}

TEST(ArmMatrix, MoreArmsThanAConfigMayHaveAreRefused) {
  json axis = json::object();
  for (int i = 0; i < 9; ++i) axis[std::to_string(i)] = json::object();
  EXPECT_THAT(refusal(json::array({{{"name", "a"}, {"matrix", {axis, axis}}}})),
              HasSubstr("expected a matrix of at most 64 variants, found 81"));
}

}  // namespace
}  // namespace memduel
