#include "config/provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "config/ablation.h"
#include "support/small_experiment.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;

TEST(Catalog, SwitchesStartAtTheirFirstValueThenPresetThenArm) {
  const Catalog catalog = small_catalog();
  EXPECT_EQ(resolve_optimizations(catalog, "federated", std::nullopt, json::object(), "variant"),
            json({{"serialize", "buffered"}, {"piece_bytes", 1048576}}));
  EXPECT_EQ(resolve_optimizations(catalog, "federated", "appfl-optimized",
                                  {{"piece_bytes", 262144}}, "variant"),
            json({{"serialize", "scoped"}, {"piece_bytes", 262144}}));
}

TEST(Catalog, OnlySwitchesOfTheWorkloadApply) {
  EXPECT_EQ(
      resolve_optimizations(small_catalog(), "state-dict", std::nullopt, json::object(), "variant"),
      json({{"serialize", "buffered"}}));
}

TEST(Catalog, APresetThatNamesAnUnknownValueIsRefusedWhenItIsRead) {
  const auto switches = json::parse(R"([{"name": "s", "summary": "", "applies_to": ["graph"],
    "values": [{"value": "plain", "summary": ""}]}])");
  auto preset = json::parse(R"({"name": "p", "summary": "", "workload_kinds": ["graph"],
    "switches": {"s": "fancier"}})");
  const auto refusal = [&] {
    return error_of([&] {
             parse_catalog(catalogue_with(switches, json::array({preset})), "boxes catalogue");
           })
        .message();
  };
  constexpr const char* kMessage =
      "boxes catalogue, $.presets[0].switches.s: expected plain, found \"fancier\" for switch "
      "\"s\"";
  EXPECT_EQ(refusal(), kMessage);
  preset.erase("workload_kinds");
  EXPECT_EQ(refusal(), kMessage);
}

TEST(Catalog, AMissingFieldIsAnError) {
  EXPECT_EQ(error_of([] {
              parse_catalog(catalogue_with(json::parse(R"([{"name": "s"}])"), json::array()), "c");
            }).message(),
            "c, $.switches[0]: found no key \"summary\", which is required\n"
            "  see docs/providers.md");
}

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCatalogue = R"({"schema": "memduel.catalogue/2", "name": "boxes",
  "version": "7",
  "switches": [
    {"name": "size", "summary": "of a box", "values": [
      {"value": "large", "summary": "as before"}, {"value": "small", "summary": "less"}]},
    {"name": "lid", "summary": "on it", "values": [
      {"value": "on", "summary": "as before"}, {"value": "off", "summary": "open"}]}],
  "presets": [{"name": "tiny", "summary": "both",
               "switches": {"size": "small", "lid": "off"}}]})";

/// A provider as a program. Most tests use kCatalogue and boxes_expansion() instead, which answer
/// the same without a process.
std::string provider_program() {
  return std::string("import json, sys\nCATALOGUE = '''") + kCatalogue + R"('''
if sys.argv[1] == "catalogue":
    print(CATALOGUE)
else:
    request = json.load(sys.stdin)
    if request["workload"].get("boxes", 1) > 3:
        sys.exit("$.workload.boxes: expected 3 at most, found more")
    print(json.dumps({"schema": "memduel.expanded/2",
        "workload": {"kind": "command", "processes": [
            {"role": "box", "count": request["workload"].get("boxes", 1) + 1, "argv": ["fill"]}]},
        "variants": [{"name": arm["name"],
                  "idle": {"lid": "needs size=small"} if arm["switches"]["size"] == "large" else {},
                  "append": {"box": [json.dumps(arm["switches"], sort_keys=True,
                                                separators=(",", ":"))]}}
                 for arm in request["variants"]],
        "default_gates": [{"role": "box_max", "metric": "peak_rss_bytes"}]}))
)";
}

json boxes_expansion(const json& request) {
  json answer = json::parse(R"({"schema": "memduel.expanded/2",
    "workload": {"kind": "command", "processes": [{"role": "box", "argv": ["fill"]}]},
    "variants": [], "default_gates": [{"role": "box_max", "metric": "peak_rss_bytes"}]})");
  answer["workload"]["processes"][0]["count"] = request.at("workload").value("boxes", 1) + 1;
  for (const json& arm : request.at("variants"))
    answer["variants"].push_back(
        {{"name", arm.at("name")}, {"append", {{"box", {arm.at("switches").dump()}}}}});
  return answer;
}

class ExpansionTest : public TestFolder {
 protected:
  void SetUp() override {
    TestFolder::SetUp();
    write_file_atomically(folder_ / "boxes.py", provider_program());
    config_ = json::parse(R"({
      "name": "b", "provider": ["python3", "boxes.py"], "workload": {"kind": "boxes", "boxes": 2},
      "variants": [{"name": "before"}, {"name": "after", "preset": "tiny", "env": {"X": "1"}}],
      "baseline": "before"})");
  }

  Experiment load(const Overrides& overrides = {}) {
    return parse_experiment(config_.dump(), "b.json", folder_, overrides, ask_);
  }
  Error refusal(const Overrides& overrides = {}) {
    return error_of([&] { load(overrides); });
  }
  /// The questions since the last time.
  std::string asked() { return std::exchange(questions_, ""); }

  json config_;
  /// What becomes of the provider's expansion.
  std::function<void(json&)> change_ = [](json&) {};
  AskProvider ask_ = [this](const Provider&, const std::string& word, const json& request) {
    questions_ += word + "\n";
    if (word == "catalogue") return json::parse(kCatalogue);
    json answer = boxes_expansion(request);
    change_(answer);
    return answer;
  };

 private:
  std::string questions_;
};

json arguments_of(const Variant& arm) {
  return json::parse(arm.processes.at(0).argv.at(1));
}

TEST_F(ExpansionTest, IsAJobWithTheSwitchesOfEveryArm) {
  const Experiment experiment = load();
  EXPECT_EQ(asked(), "catalogue\nexpand\n");
  EXPECT_FALSE(experiment.config.workload.job.processes.empty());
  EXPECT_THAT(experiment.facts.roles, ElementsAre("box-1", "box-2", "box-3"));
  EXPECT_THAT(experiment.facts.default_gates, ElementsAre(RoleMetric{"box_max", "peak_rss_bytes"}));
  EXPECT_EQ(arguments_of(experiment.variants[0]), json::parse(R"({"size": "large", "lid": "on"})"));
  EXPECT_EQ(arguments_of(experiment.variants[1]),
            json::parse(R"({"size": "small", "lid": "off"})"));
  EXPECT_EQ(experiment.variants[1].switches.at("size"), "small");
  EXPECT_EQ(experiment.variants[1].env.at("X"), "1");
  EXPECT_EQ(written_document(experiment.config).at("workload"), config_.at("workload"))
      << "as it was written";
}

TEST_F(ExpansionTest, StartsTheProvidersProgram) {
  const Experiment expected = load();
  ask_ = ask_program;
  EXPECT_EQ(written_document(load().config), written_document(expected.config));
}

TEST_F(ExpansionTest, OfAResolvedConfigAsksNobody) {
  const Experiment first = load();
  asked();
  std::filesystem::remove(folder_ / "boxes.py");
  const Experiment again = parse_experiment(written_document(first.config).dump(), "config.json",
                                            "/elsewhere", {}, ask_);
  EXPECT_EQ(asked(), "");
  EXPECT_EQ(written_document(again.config), written_document(first.config));
  EXPECT_EQ(again.config_sha256, first.config_sha256);
  EXPECT_EQ(again.variants[1].processes, first.variants[1].processes);
}

TEST_F(ExpansionTest, OfARunThatGoesOnAsksNobody) {
  Overrides overrides;
  overrides.resumed = load().config;
  asked();
  std::filesystem::remove(folder_ / "boxes.py");
  EXPECT_EQ(written_document(load(overrides).config), written_document(*overrides.resumed));
  EXPECT_EQ(asked(), "");
}

TEST_F(ExpansionTest, OfAnotherWorkloadIsAskedForAnew) {
  Overrides overrides;
  overrides.resumed = load().config;
  asked();
  overrides.set = {"workload.boxes=1"};
  EXPECT_THAT(load(overrides).facts.roles, ElementsAre("box-1", "box-2"));
  EXPECT_EQ(asked(), "catalogue\nexpand\n");
}

TEST_F(ExpansionTest, ATwinThatHasItsOwnEnvironmentIsAskedFor) {
  config_["variants"] = {{{"name", "one"}},
                         {{"name", "other"}, {"twin_of", "one"}, {"env", {{"X", "1"}}}}};
  config_["baseline"] = "one";
  const Experiment experiment = load();
  const json kept = written_document(experiment.config).at("expanded").at("variants");
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].at("name"), "other");
  EXPECT_EQ(written_document(
                parse_experiment(written_document(experiment.config).dump(), "c", "/").config),
            written_document(experiment.config));
}

TEST_F(ExpansionTest, ATwinIsTheArmThatItIsOf) {
  Overrides overrides;
  overrides.arms = {"before"};
  overrides.calibrate = true;
  const Experiment experiment = load(overrides);
  ASSERT_EQ(experiment.variants.size(), 2U);
  EXPECT_EQ(experiment.variants[1].twin_of, "before");
  EXPECT_EQ(experiment.variants[1].processes, experiment.variants[0].processes);
  EXPECT_EQ(written_document(
                parse_experiment(written_document(experiment.config).dump(), "c", "/").config),
            written_document(experiment.config));
}

TEST_F(ExpansionTest, IsTakenApartByTheProvidersSwitches) {
  const Experiment ablation = ablation_experiment(load(), {});
  std::vector<std::string> names;
  for (const Variant& arm : ablation.variants) names.push_back(arm.name);
  EXPECT_THAT(names, ElementsAre("before", "after", "before+size", "after-size", "after-lid",
                                 "before+X", "after-X"))
      << "a lid on a large box changes nothing, so that before+lid is no variant";
  EXPECT_EQ(arguments_of(ablation.variants[2]), json::parse(R"({"size": "small", "lid": "on"})"));
}

/// A condition of a catalogue, and what a provider does in its place.
struct RemovedKey {
  const char* path;  ///< in the catalogue
  const char* said;
};

TEST_F(ExpansionTest, AConditionInACatalogueIsRefusedWithWhatToUse) {
  const RemovedKey removed[] = {
      {"/switches/1/matters_with",
       "$.switches[1].matters_with: found the removed key \"matters_with\": name the switch in "
       "\"idle\" of a variant"},
      {"/switches/1/values/0/works_only_with",
       "$.switches[1].values[0].works_only_with: found the removed key \"works_only_with\": refuse "
       "the variant in expand"},
      {"/switches/0/at_most",
       "$.switches[0].at_most: found the removed key \"at_most\": refuse the variant in expand"}};
  for (const auto& [path, said] : removed) {
    ask_ = [&path = path](const Provider&, const std::string&, const json&) {
      json catalogue = json::parse(kCatalogue);
      catalogue[json::json_pointer(path)] = json::object();
      return catalogue;
    };
    EXPECT_EQ(refusal().message(), std::string("b.json: python3 boxes.py catalogue, ") + said +
                                       "\n  see docs/providers.md");
    EXPECT_THAT(error_of([&] { ask_whole_catalogue({{"boxes"}, ".", "boxes"}, ask_); }).message(),
                HasSubstr(said));
  }
}

TEST_F(ExpansionTest, AReasonThatIsNoTextIsRefusedWhereItIsRead) {
  ask_ = ask_program;
  const Experiment experiment = load();
  const AskProvider ask = [&](const Provider& provider, const std::string& word,
                              const json& request) {
    json answer = ask_program(provider, word, request);
    if (word == "expand") answer["variants"][0]["idle"] = {{"lid", 1}};
    return answer;
  };
  EXPECT_THAT(error_of([&] { ablation_experiment(experiment, {}, ask); }).message(),
              testing::AllOf(HasSubstr("ablation of b, as python3 expands it, "
                                       "$.variants[0].idle.lid: expected string, found integer 1"),
                             HasSubstr("docs/providers.md")));
}

TEST_F(ExpansionTest, RefusesInTheProvidersWords) {
  ask_ = ask_program;
  config_["workload"]["boxes"] = 4;
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.message(),
            "b.json: python3 boxes.py expand: $.workload.boxes: expected 3 at most, found more");
}

TEST_F(ExpansionTest, RefusesWithItsOwnError) {
  ask_ = ask_program;
  const auto message_of = [&](const std::string& printed) {
    config_["provider"] = {"sh", "-c", "printf %s '" + printed + "'; exit 1 #"};
    return refusal().message();
  };
  EXPECT_EQ(message_of(R"({"schema": "memduel.refused/1", "code": 2, "what": "found 9",
                           "where": "b.json, $.workload.boxes", "advice": null})"),
            "b.json, $.workload.boxes: found 9");
  EXPECT_THAT(message_of(R"({"schema": "memduel.refused/1", "code": 2})"),
              HasSubstr("catalogue, $: found no key \"what\", which is required"));
}

TEST_F(ExpansionTest, AnUnknownSwitchIsFoundByTheCatalogue) {
  config_["variants"][1]["switches"] = {{"sise", "small"}};
  EXPECT_EQ(refusal().message(),
            "b.json, $.variants[1].switches.sise: found unknown switch \"sise\"\n"
            "  did you mean \"size\"?");
  config_["variants"][1] = {{"name", "after"}, {"preset", "tinny"}};
  EXPECT_THAT(refusal().message(), HasSubstr("did you mean \"tiny\"?"));
}

TEST_F(ExpansionTest, WhatIsTheProvidersIsRefusedInAnArm) {
  config_["variants"][1]["append"] = {{"box", {"x"}}};
  EXPECT_EQ(refusal().message(),
            "b.json, $.variants[1].append: expected preset, switches, env or allocator (the "
            "workload plug-in of kind \"boxes\" sets everything else), found \"append\"");
  EXPECT_EQ(asked(), "catalogue\n") << "whether it has the kind";
}

TEST_F(ExpansionTest, TheRestIsJudgedBeforeTheProviderIsAsked) {
  config_["mesure"] = 1;
  EXPECT_THAT(refusal().message(), HasSubstr("did you mean \"measure\"?"));
  config_.erase("mesure");
  config_["workload"] = {{"kind", "command"}, {"processes", {{{"role", "p"}, {"argv", {"p"}}}}}};
  EXPECT_THAT(refusal().message(), HasSubstr("needs no workload plug-in"));
  config_["workload"] = 3;
  EXPECT_THAT(refusal().message(), HasSubstr("$.workload"));
  EXPECT_EQ(asked(), "");
}

/// What a provider that prints `text` is told.
struct BadAnswer {
  const char* text;
  const char* found;
};

void PrintTo(const BadAnswer& answer, std::ostream* out) {
  *out << answer.text;
}

class BadProvider : public ExpansionTest, public testing::WithParamInterface<BadAnswer> {};

TEST_P(BadProvider, IsToldWhatWasFound) {
  ask_ = ask_program;
  config_["provider"] = {"sh", "-c", std::string("printf %s '") + GetParam().text + "' #"};
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.message(), HasSubstr(GetParam().found));
  EXPECT_THAT(error.message(), HasSubstr("docs/providers.md"));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, BadProvider,
    testing::Values(
        BadAnswer{"", "expected a JSON object, found none"},
        BadAnswer{"{", "expected a JSON object, found none"},
        BadAnswer{"[]", "expected a JSON object, found none"},
        BadAnswer{"{}", "expected the schema \"memduel.catalogue/2\", found null"},
        BadAnswer{R"({"schema": 1})", ", found 1"},
        BadAnswer{R"({"schema": "memduel.catalogue/2"})", "catalogue, $: found no key \"name\""},
        BadAnswer{R"({"schema": "memduel.catalogue/2", "name": "x", "version": 1})",
                  "$.version: expected string, found integer 1"},
        BadAnswer{
            R"({"schema": "memduel.catalogue/2", "name": "x", "version": "1", "presets": {}})",
            "$.presets: expected array, found object {}"},
        BadAnswer{R"({"schema": "memduel.catalogue/2", "name": "x", "version": "1", "kinds": [1]})",
                  "$.kinds[0]: expected string, found integer 1"},
        BadAnswer{
            R"({"schema": "memduel.catalogue/2", "name": "x", "version": "1", "switches": [7]})",
            "$.switches[0]: expected object, found integer 7"}));

/// What a provider answers to `expand`; its catalogue is sound.
Error refusal_of_expansion(const json& answer) {
  const AskProvider ask = [&](const Provider& provider, const std::string& word,
                              const json& request) {
    if (word == "catalogue") return small_provider()(provider, word, request);
    json whole = small_provider()(provider, word, request);
    whole.merge_patch(answer);
    return whole;
  };
  return error_of([&] { parse_experiment(federated_config(), "s.json", "/", {}, ask); });
}

TEST(BadExpansion, ADefaultGateNeedsADirection) {
  const Error error = refusal_of_expansion(
      json::parse(R"({"default_gates": [{"role": "box-1", "metric": "wear"}]})"));
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(
      error.message(),
      HasSubstr(
          "$.default_gates[0]: expected a metric with a declared direction, found box-1.wear"));
}

TEST(BadExpansion, IsToldWhatWasFound) {
  for (
      const char* answer :
      {R"({"variants": {}})", R"({"variants": [1, [], null]})", R"({"resolved": [1]})",
       R"({"groups": 5})", R"({"groups": [5]})", R"({"default_gates": [{"role": 1}]})",
       R"({"meters": {}})", R"({"meters": ["nope"]})", R"({"workload": {"processes": 7}})",
       R"({"workload": {"final_model": {"path": "/etc/passwd"}}})",
       R"({"workload": {"final_model": {"path": "{trial_dir}/../../x"}}})",
       R"({"variants": [{"name": "original", "env": 3}, {"name": "optimized"}]})",
       R"({"variants": [{"name": "original", "switches": 3}, {"name": "optimized"}]})",
       R"({"variants": [{"name": "original", "templates": [{"to": "x"}]}, {"name": "optimized"}]})"}) {
    const Error error = refusal_of_expansion(json::parse(answer));
    EXPECT_NE(error.code(), ExitCode::ok) << answer;
    EXPECT_THAT(error.message(), HasSubstr("s.json")) << answer;
    EXPECT_THAT(error.message(), Not(HasSubstr("json.exception"))) << answer;
  }
}

TEST_F(ExpansionTest, AnAnswerWithoutOneOfTheArmsIsRefused) {
  change_ = [](json& answer) { answer["variants"].erase(1); };
  EXPECT_THAT(refusal().message(), HasSubstr("b.json, as python3 expands it, $.variants: expected "
                                             "each variant of the request, found no \"after\""));
}

TEST_F(ExpansionTest, AJobThatIsNoneIsRefusedAtItsPlace) {
  change_ = [](json& answer) { answer["workload"]["processes"][0]["argv"] = json::array(); };
  EXPECT_THAT(refusal().message(),
              HasSubstr("b.json, as python3 expands it, $.workload.processes[0].argv"));
}

TEST_F(ExpansionTest, AProviderThatIsNotThereIsNamed) {
  ask_ = ask_program;
  config_["provider"] = {"no-such-provider"};
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.message(), HasSubstr("no-such-provider"));
}

}  // namespace
}  // namespace memduel
