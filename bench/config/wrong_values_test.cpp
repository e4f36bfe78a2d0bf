// Every key of a config with each value that its schema forbids, and every section with a key that
// it does not have: the message names the file, the line, the JSON path, what was found and what
// was expected.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "config/experiment.h"
#include "config/read_document.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

const json& resolved_schema(const json& schema) {
  const auto ref = schema.find("$ref");
  if (ref == schema.end()) return schema;
  return resolved_schema(
      experiment_schema().at(json::json_pointer(ref->get<std::string>().substr(1))));
}

/// A value that the schema allows.
json sample_of(const json& schema_or_ref) {
  const json& schema = resolved_schema(schema_or_ref);
  if (schema.contains("anyOf")) return sample_of(schema["anyOf"][0]);
  if (schema.contains("allOf")) return sample_of(schema["allOf"][0]["then"]);
  if (schema.contains("enum")) return schema["enum"][0];
  if (schema.contains("const")) return schema["const"];
  const json type = schema.value("type", json("string"));
  const std::string name = type.is_array() ? type[0] : type;
  if (name == "integer" || name == "number") return schema.value("minimum", json(1));
  if (name == "boolean") return true;
  if (name == "array")
    return schema.value("minItems", 0) > 0 ? json::array({sample_of(schema["items"])})
                                           : json::array();
  if (name != "object") return "x";
  json object = json::object();
  for (const std::string key : schema.value("required", json::array()))
    object[key] = sample_of(schema["properties"][key]);
  if (schema.contains("minProperties") && object.empty() && schema.contains("properties")) {
    const auto first = schema["properties"].begin();
    object[first.key()] = sample_of(*first);
  }
  return object;
}

/// Values that the schema forbids.
std::vector<json> wrong_values_of(const json& schema) {
  std::vector<json> wrong;
  const json type = schema.value("type", json());
  const auto takes = [&](const char* name) {
    return type.is_array() ? std::ranges::find(type, json(name)) != type.end() : type == name;
  };
  if (!type.is_null())
    wrong.push_back(!takes("string") ? json("wrong") : takes("boolean") ? json() : json(true));
  if (schema.contains("enum") && schema["enum"][0].is_string())
    wrong.push_back(schema["enum"][0].get<std::string>() + "x");
  if (schema.contains("enum")) wrong.push_back(3);
  if (schema.contains("minimum")) wrong.push_back(schema["minimum"].get<std::int64_t>() - 1);
  if (schema.contains("maximum")) wrong.push_back(schema["maximum"].get<std::int64_t>() + 1);
  if (schema.contains("exclusiveMinimum")) wrong.push_back(schema["exclusiveMinimum"]);
  if (schema.contains("pattern")) wrong.emplace_back("!");
  if (schema.contains("minLength")) wrong.emplace_back("");
  if (schema.contains("maxLength"))
    wrong.emplace_back(std::string(schema["maxLength"].get<std::size_t>() + 1, 'x'));
  if (schema.contains("minItems")) wrong.push_back(json::array());
  if (schema.contains("maxItems"))
    wrong.push_back(
        std::vector<json>(schema["maxItems"].get<std::size_t>() + 1, sample_of(schema["items"])));
  if (schema.value("uniqueItems", false))
    wrong.push_back(std::vector<json>(2, sample_of(schema["items"])));
  if (schema.contains("minProperties")) wrong.push_back(json::object());
  return wrong;
}

json valid_document() {
  return json::parse(R"({"name": "n", "baseline": "x",
    "workload": {"kind": "command", "processes": [{"role": "x", "argv": ["x"]}]},
    "variants": [{"name": "x"}, {"name": "y", "env": {"N": "1"}}]})");
}

/// No provider is installed.
std::string refusal_without_provider(const json& document) {
  const AskProvider none = [](const Provider&, const std::string&, const json&) -> json {
    throw Error(ExitCode::io, "cannot be started", kDefaultProvider);
  };
  const Error error =
      error_of([&] { parse_experiment(document.dump(1), "c.json", "/", {}, none); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

/// Visits each value that the schema describes: with its path, and a document that has all which
/// is required around it.
class SchemaWalk {
 public:
  using Visit = std::function<void(const json& schema, const JsonPath& path, const json& around)>;

  explicit SchemaWalk(Visit visit) : visit_(std::move(visit)) {}

  void walk() { walk(experiment_schema(), {}, valid_document()); }

 private:
  void walk(const json& schema_or_ref, const JsonPath& path, const json& around) {
    const json& schema = resolved_schema(schema_or_ref);
    visit_(schema, path, around);
    for (const json& branch : schema.value("allOf", json::array()))
      walk(branch["then"], path, around);
    for (const json& form : schema.value("anyOf", json::array())) {
      json other = around;
      other[pointer(path)] = sample_of(form);
      walk(form, path, other);
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& property : properties.items()) {
      json alone = around;
      if (schema.contains("maxProperties")) alone[pointer(path)] = json::object();
      step(property.value(), path, property.key(), alone);
    }
    if (schema.contains("items")) {
      json list = around;
      if (!list[pointer(path)].is_array()) list[pointer(path)] = json::array();
      step(schema["items"], path, "0", list);
    }
    if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object())
      step(schema["additionalProperties"], path, "x", around);
  }

  void step(const json& schema, JsonPath path, const std::string& name, json around) {
    path.push_back(name);
    json& value = around[pointer(path)];
    const json sample = sample_of(schema);
    if (value.is_null() || !sample.is_object()) value = sample;
    walk(schema, path, around);
  }

 public:
  static json::json_pointer pointer(const JsonPath& path) {
    json::json_pointer place;
    for (const std::string& name : path) place /= name;
    return place;
  }

 private:
  Visit visit_;
};

TEST(WrongValues, NamePlaceFoundAndExpectedForEachKey) {
  int count = 0;
  SchemaWalk([&](const json& schema, const JsonPath& path, const json& around) {
    for (const json& wrong : wrong_values_of(schema)) {
      json document = around;
      document[SchemaWalk::pointer(path)] = wrong;
      SCOPED_TRACE(document.dump());
      EXPECT_THAT(refusal_without_provider(document),
                  AllOf(StartsWith("c.json, "), HasSubstr(format_json_path(path)),
                        HasSubstr("found "), HasSubstr("expected ")));
      ++count;
    }
  }).walk();
  EXPECT_GT(count, 200);
}

TEST(WrongValues, SuggestNearestChoice) {
  SchemaWalk([&](const json& schema, const JsonPath& path, const json& around) {
    if (!schema.contains("enum") || !schema["enum"][0].is_string()) return;
    json document = around;
    const std::string right = schema["enum"][0];
    document[SchemaWalk::pointer(path)] = right + "x";
    EXPECT_THAT(refusal_without_provider(document), HasSubstr("did you mean \"" + right + "\"?"));
  }).walk();
}

TEST(WrongValues, SuggestNearestKey) {
  int count = 0;
  SchemaWalk([&](const json& schema, const JsonPath& path, const json& around) {
    if (schema.value("additionalProperties", json()) != false) return;
    for (const auto& property : schema.at("properties").items()) {
      if (property.key().size() < 3 || property.key().starts_with('$')) continue;
      json document = around;
      json& section = document[SchemaWalk::pointer(path)];
      if (!section.is_object()) section = json::object();
      section[property.key() + "x"] = 1;
      JsonPath place = path;
      place.push_back(property.key() + "x");
      EXPECT_THAT(refusal_without_provider(document),
                  AllOf(StartsWith("c.json, line "), HasSubstr(format_json_path(place)),
                        HasSubstr("found unknown key \"" + property.key() + "x\""),
                        HasSubstr("did you mean \"" + property.key() + "\"?")));
      ++count;
    }
  }).walk();
  EXPECT_GT(count, 60);
}

TEST(WrongValues, ExplainQuotes) {
  Overrides overrides;
  overrides.set = {"variants.y.env.N=5000"};
  const Error error = error_of(
      [&] { parse_experiment(valid_document().dump(1), "c.json", "/", overrides, ask_program); });
  EXPECT_EQ(error.message(),
            "c.json, $.variants[1].env.N (--set variants.y.env.N=5000): expected string, found "
            "integer 5000\n  write it in quotes: \"5000\", or --set 'variants.1.env.N=\"5000\"'");
}

TEST(WrongValues, NameRoundsThatWarmUpLeavesNone) {
  json absurd = valid_document();
  absurd["measure"]["warmup_rounds"] = 1'000'000;
  EXPECT_THAT(refusal_without_provider(absurd),
              AllOf(HasSubstr(
                  "$.measure.warmup_rounds: expected an integer from 0 to 100000, found 1000000")));
  json all = valid_document();
  all["workload"]["rounds"] = 12;
  all["measure"]["warmup_rounds"] = 12;
  EXPECT_THAT(refusal_without_provider(all),
              HasSubstr("expected less than the 12 rounds of a trial (workload.rounds), found 12"));
}

TEST(WrongValues, NamePlaceOfMatrix) {
  const auto refusal = [](const char* variant) {
    json document = valid_document();
    document["variants"][1] = json::parse(variant);
    return refusal_without_provider(document);
  };
  EXPECT_THAT(refusal(R"({"name": "y", "matrix": [{"one": {}, "two": {"env": {"A=B": "1"}}}]})"),
              AllOf(StartsWith("c.json, line 14, "),
                    HasSubstr("$.variants[1].matrix[0].two.env.A=B: found the variable")));
  EXPECT_THAT(
      refusal(R"({"name": "y", "env": {"N": 1}, "matrix": [{"one": {"env": {"M": "1"}}}]})"),
      HasSubstr("$.variants[1].env.N: expected string, found integer 1"))
      << "the variant's own";
  EXPECT_THAT(refusal(R"({"name": "y", "env": {"N": "1"},
                          "matrix": [{"a": {"env": {"N": 1}}}, {"b": {"env": {"N": 2}}}]})"),
              AllOf(HasSubstr("$.variants[1].matrix[1].b.env.N: expected string, found integer 2"),
                    HasSubstr("--set 'variants.1.matrix.1.b.env.N=\"2\"'")))
      << "the last axis that changes it";
  EXPECT_THAT(refusal(R"({"name": "y", "matrix": [{"a": {"append": {"z": ["1"]}}}]})"),
              HasSubstr("$.variants[1].matrix[0].a.append"));
}

TEST(WrongValues, NamePlaceOfMatrixAmongChosenVariants) {
  json document = valid_document();
  document["variants"].push_back(
      {{"name", "z"}, {"matrix", json::parse(R"([{"a": {}, "b": {"twin_of": "q"}}])")}});
  Overrides overrides;
  overrides.arms = {"x", "z-b"};
  const Error error =
      error_of([&] { parse_experiment(document.dump(1), "c.json", "/", overrides, ask_program); });
  EXPECT_THAT(error.message(), HasSubstr("$.variants[2].matrix[0].b.twin_of: expected the name of "
                                         "a variant (x, z-b), found \"q\""));
}

TEST(WrongValues, TellResultsFromConfig) {
  EXPECT_EQ(refusal_without_provider({{"schema", "memduel.results/2"}, {"rows", json::array()}}),
            "c.json: expected a config, found the results of a run\n  to see or judge them: "
            "memduel report DIR, memduel check DIR; to measure the same again: config.json in DIR");
  EXPECT_EQ(refusal_without_provider({{"schema", "memduel.calibration/2"}}),
            "c.json: expected a config, found a file of schema \"memduel.calibration/2\"");
}

TEST(WrongValues, NameNullOnce) {
  json document = valid_document();
  document["name"] = nullptr;
  EXPECT_THAT(refusal_without_provider(document), HasSubstr("$.name: expected string, found null"));
}

/// Where messages of a schema come from, and where the walker would pass by in silence.
TEST(Schema, HasOnlyKeywordsOfTheValidator) {
  const std::set<std::string> known = {"$ref",
                                       "$schema",
                                       "additionalProperties",
                                       "allOf",
                                       "anyOf",
                                       "const",
                                       "default",
                                       "definitions",
                                       "description",
                                       "enum",
                                       "exclusiveMinimum",
                                       "exclusiveMaximum",
                                       "items",
                                       "maxItems",
                                       "maxLength",
                                       "maxProperties",
                                       "maximum",
                                       "minItems",
                                       "minLength",
                                       "minimum",
                                       "minProperties",
                                       "pattern",
                                       "properties",
                                       "required",
                                       "title",
                                       "type",
                                       "uniqueItems"};
  SchemaWalk([&](const json& schema, const JsonPath& path, const json&) {
    for (const auto& keyword : schema.items())
      EXPECT_TRUE(known.contains(keyword.key())) << format_json_path(path) << " " << keyword.key();
  }).walk();
}

TEST(Schema, LimitsEveryInteger) {
  SchemaWalk([&](const json& schema, const JsonPath& path, const json&) {
    if (schema.value("type", json()) != "integer") return;
    EXPECT_TRUE(schema.contains("minimum")) << format_json_path(path);
    EXPECT_TRUE(schema.contains("maximum")) << format_json_path(path);
  }).walk();
}

}  // namespace
}  // namespace memduel
