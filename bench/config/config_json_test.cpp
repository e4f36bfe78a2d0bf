#include "config/config_json.h"

#include <gtest/gtest.h>

#include "support/small_experiment.h"

namespace memduel {
namespace {

TEST(JsonText, CommentsAreAllowed) {
  const auto parsed = parse_json_text("{ // one\n \"a\": 1 /* two */ }", "f.json");
  EXPECT_EQ(parsed, nlohmann::json({{"a", 1}}));
}

TEST(JsonText, ASyntaxErrorNamesFileLineAndColumn) {
  const Error error = error_of([] { parse_json_text("{\n  \"a\": 1,\n  b\n}", "f.json"); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.where(), "f.json, line 3, column 3");
}

TEST(JsonText, NothingIsReadBehindAZeroByte) {
  const std::string text("{}\n\0{", 5);
  const Error error = error_of([&] { parse_json_text(text, "f.json"); });
  EXPECT_EQ(error.where(), "f.json, line 2, column 1");
  EXPECT_STREQ(error.what(), "not valid JSON: found a byte of value 0");
}

TEST(JsonText, DeepNestingIsRefused) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const Error error = error_of([&] { parse_json_text(deep, "f.json"); });
  EXPECT_STREQ(error.what(), "nested deeper than 200 levels");
}

TEST(JsonText, PathsReadAsInOtherTools) {
  EXPECT_EQ(format_json_path({}), "$");
  EXPECT_EQ(format_json_path({"variants", "0", "name"}), "$.variants[0].name");
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
            "--set variants.7.name=y: found index 7, expected one below 1");
  EXPECT_EQ(message("variants.optimised.name=y"),
            "--set variants.optimised.name=y: no element is named \"optimised\"\n"
            "  did you mean \"optimized\"?");
  EXPECT_EQ(message("name.first=y"),
            "--set name.first=y: \"first\" is inside a value of type string");
  EXPECT_EQ(message("a..b=1"), "--set a..b=1: found an empty step in the path");
}

TEST(JsonText, AKeyGivenTwiceIsNamedWithBothLines) {
  const Error error = error_of([] {
    parse_json_text(
        "{\n  \"baseline\": \"a\",\n  \"variants\": [{\"name\": 1}, {\"name\": 2}],\n"
        "  \"baseline\": \"b\"\n}",
        "f.json");
  });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_STREQ(error.what(), "found \"baseline\" twice, in line 2 and in line 4");
  EXPECT_EQ(error.where(), "f.json");
}

}  // namespace
}  // namespace memduel
