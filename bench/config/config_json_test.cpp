#include "config/config_json.h"

#include <gtest/gtest.h>

#include "support/small_experiment.h"

namespace memduel {
namespace {

TEST(JsonText, CommentsAreAllowed) {
  const auto parsed = parse_config_text("{ // one\n \"a\": 1 /* two */ }", "f.json").root;
  EXPECT_EQ(parsed, nlohmann::json({{"a", 1}}));
}

TEST(JsonText, ASyntaxErrorNamesFileLineAndColumn) {
  const Error error = error_of([] { parse_config_text("{\n  \"a\": 1,\n  b\n}", "f.json"); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.where(), "f.json, line 3, column 3");
}

TEST(JsonText, NothingIsReadBehindAZeroByte) {
  const std::string text("{}\n\0{", 5);
  const Error error = error_of([&] { parse_config_text(text, "f.json"); });
  EXPECT_EQ(error.where(), "f.json, line 2, column 1");
  EXPECT_STREQ(error.what(), "not valid JSON: found a byte of value 0");
}

TEST(JsonText, DeepNestingIsRefused) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const Error error = error_of([&] { parse_config_text(deep, "f.json"); });
  EXPECT_STREQ(error.what(), "nested deeper than 200 levels");
}

TEST(JsonText, PathsReadAsInOtherTools) {
  EXPECT_EQ(format_json_path({}), "$");
  EXPECT_EQ(format_json_path({"variants", "0", "name"}), "$.variants[0].name");
}

std::string place_in(const char* text, const JsonPath& path) {
  return parse_config_text(text, "f.json").places.at(path);
}

TEST(Places, NameLineOfValueOrOfWhatIsAroundIt) {
  const char* text =
      "{\n  \"a\": 1,\n  // two\n  \"list\": [\n    7,\n    {\"name\":\n\"x\"}, \"y\"\n  ]\n}\n";
  EXPECT_EQ(place_in(text, {"a"}), "f.json, line 2, $.a");
  EXPECT_EQ(place_in(text, {"list"}), "f.json, line 4, $.list");
  EXPECT_EQ(place_in(text, {"list", "0"}), "f.json, line 5, $.list[0]");
  EXPECT_EQ(place_in(text, {"list", "1", "name"}), "f.json, line 6, $.list[1].name");
  EXPECT_EQ(place_in(text, {"list", "2"}), "f.json, line 7, $.list[2]");
  EXPECT_EQ(place_in(text, {"list", "1", "absent", "0"}), "f.json, line 6, $.list[1].absent[0]");
  EXPECT_EQ(place_in(text, {"absent"}), "f.json, $.absent");
  EXPECT_EQ(place_in("{\"a\": 1}\n", {"a"}), "f.json, $.a") << "a text of one line has no other";
}

TEST(Places, NameOptionThatGivesValue) {
  ConfigTree tree = parse_config_text("{\n  \"a\": {\n    \"b\": 1\n  }\n}", "f.json");
  tree.places.replace(set_json_value(tree.root, "a={\"b\": 2}"), "--set a=…");
  EXPECT_EQ(tree.places.at({"a", "b"}), "f.json, $.a.b (--set a=…)");
}

TEST(Places, NameOptionThatMadeKey) {
  ConfigTree tree = parse_config_text("{\n  \"a\": {\n    \"b\": 1\n  }\n}", "f.json");
  tree.places.replace(set_json_value(tree.root, "c.d=2"), "--set c.d=2");
  EXPECT_EQ(tree.places.at({"c"}), "f.json, $.c (--set c.d=2)");
  tree.places.replace(set_json_value(tree.root, "a.e=2"), "--set a.e=2");
  EXPECT_EQ(tree.places.at({"a"}), "f.json, line 2, $.a");
}

TEST(Places, FollowElementsOfRearrangedList) {
  Places places = parse_config_text("{\"v\": [\n0,\n1,\n2\n]}", "f.json").places;
  places.rearrange("v", {2, 0, 0});
  EXPECT_EQ(places.at({"v", "0"}), "f.json, line 4, $.v[2]");
  places.rearrange("v", {1, 0});
  EXPECT_EQ(places.at({"v", "0"}), "f.json, line 2, $.v[0]");
  EXPECT_EQ(places.at({"v", "1"}), "f.json, line 4, $.v[2]");
}

TEST(SetJsonValue, ValuesAreJsonOrElseText) {
  nlohmann::json document = {{"workload", {{"rounds", 5}}}};
  set_json_value(document, "workload.rounds=10");
  set_json_value(document, "workload.model=resnet18");
  set_json_value(document, "measure.meters=[\"procfs\"]");
  EXPECT_EQ(document, nlohmann::json::parse(R"({"workload": {"rounds": 10, "model": "resnet18"},
                                                "measure": {"meters": ["procfs"]}})"));
}

TEST(SetJsonValue, ElementsAreNamedByIndexOrName) {
  nlohmann::json document = {{"variants", {{{"name", "a"}}, {{"name", "b"}}}}};
  set_json_value(document, "variants.1.preset=x");
  set_json_value(document, "variants.a.env.N=\"2\"");
  EXPECT_EQ(document["variants"][1]["preset"], "x");
  EXPECT_EQ(document["variants"][0]["env"]["N"], "2");
}

TEST(SetJsonValue, FaultyAssignmentsAreRefused) {
  nlohmann::json document = {{"variants", {{{"name", "optimized"}}}}, {"name", "x"}};
  const auto message = [&](const std::string& assignment) {
    const Error error = error_of([&] { set_json_value(document, assignment); });
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  };
  EXPECT_EQ(message("rounds"),
            "--set rounds: expected path=value\n  for example --set workload.rounds=10");
  EXPECT_EQ(message("variants.7.name=y"),
            "--set variants.7.name=y: expected an index below 1, found 7");
  EXPECT_EQ(message("variants.optimised.name=y"),
            "--set variants.optimised.name=y: no element is named \"optimised\"\n"
            "  did you mean \"optimized\"?");
  EXPECT_EQ(message("name.first=y"),
            "--set name.first=y: \"first\" is inside a value of type string");
  EXPECT_EQ(message("a..b=1"), "--set a..b=1: found an empty step in the path");
}

TEST(JsonText, AKeyGivenTwiceIsNamedWithBothLines) {
  const Error error = error_of([] {
    parse_config_text(
        "{\n  \"baseline\": \"a\",\n  \"variants\": [{\"name\": 1}, {\"name\": 2}],\n"
        "  \"baseline\": \"b\"\n}",
        "f.json");
  });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_STREQ(error.what(), "found \"baseline\" twice, in lines 2 and 4");
  EXPECT_EQ(error.where(), "f.json");
}

}  // namespace
}  // namespace memduel
