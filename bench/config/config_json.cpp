#include "config/config_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "model/removed.h"
#include "model/renamed_since_1.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"
#include "util/text.h"

namespace memduel {
namespace {

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

Position position_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column =
      last == std::string_view::npos ? before.size() + 1 : before.size() - last;
  return {static_cast<std::size_t>(lines) + 1, column};
}

/// The bytes of a text, which say how many of them were read.
class CountedBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedBytes(const char* at, std::size_t* count, const char* begin)
      : at_(at), count_(count), begin_(begin) {}

  reference operator*() const { return *at_; }
  CountedBytes& operator++() {
    *count_ = static_cast<std::size_t>(++at_ - begin_);
    return *this;
  }
  bool operator==(const CountedBytes& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
  const char* begin_;
};

bool is_index(const std::string& step) {
  return !step.empty() &&
         std::ranges::all_of(step, [](unsigned char c) { return std::isdigit(c) != 0; });
}

[[noreturn]] void refuse_set(const std::string& assignment, const std::string& what,
                             const std::string& advice) {
  throw Error(ExitCode::usage, what, "--set " + assignment, advice);
}

nlohmann::json& array_element(nlohmann::json& array, const std::string& step,
                              const std::string& assignment) {
  if (is_index(step)) {
    std::size_t index = array.size();
    std::from_chars(step.data(), step.data() + step.size(), index);
    if (index < array.size()) return array[index];
    refuse_set(assignment, fmt::format("found index {}, expected one below {}", step, array.size()),
               "");
  }
  std::vector<std::string> names;
  for (auto& element : array) {
    const auto name = element.is_object() ? element.find("name") : element.end();
    if (name == element.end() || !name->is_string()) continue;
    if (*name == step) return element;
    names.push_back(*name);
  }
  refuse_set(assignment, fmt::format("no element is named \"{}\"", step),
             nearest_advice(step, names));
}

}  // namespace

nlohmann::json parse_json_text(std::string_view text, const std::string& origin) {
  std::size_t byte = 0;
  // Of the objects that the parser is in: where each key was.
  std::vector<std::map<std::string, std::size_t>> keys;
  const auto look = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    refuse_deep_json(depth, event, value);
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event != Event::key) return true;
    const auto [first, is_new] = keys.back().emplace(value.get<std::string>(), byte);
    if (is_new) return true;
    throw Error(ExitCode::usage,
                fmt::format("found \"{}\" twice, in line {} and in line {}", first->first,
                            position_of(text, first->second).line, position_of(text, byte).line),
                origin, "give it once");
  };
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    // The library takes it for the end of the text.
    const Position at = position_of(text, zero);
    throw Error(ExitCode::usage, "not valid JSON: found a byte of value 0",
                fmt::format("{}, line {}, column {}", origin, at.line, at.column),
                "write it in UTF-8");
  }
  try {
    return nlohmann::json::parse(CountedBytes{text.data(), &byte, text.data()},
                                 CountedBytes{text.data() + text.size(), &byte, text.data()}, look,
                                 true, true);
  } catch (const std::length_error& error) {
    throw Error(ExitCode::usage, error.what(), origin);
  } catch (const nlohmann::json::parse_error& error) {
    const Position at = position_of(text, error.byte == 0 ? 0 : error.byte - 1);
    std::string what = error.what();
    if (const auto colon = what.find("syntax error"); colon != std::string::npos) {
      what = what.substr(colon);
    }
    throw Error(ExitCode::usage, "not valid JSON: " + what,
                fmt::format("{}, line {}, column {}", origin, at.line, at.column));
  } catch (const nlohmann::json::exception& error) {
    const Position at = position_of(text, byte == 0 ? 0 : byte - 1);
    throw Error(ExitCode::usage, "not valid JSON: " + reason_of(error),
                fmt::format("{}, line {}, column {}", origin, at.line, at.column));
  }
}

std::string format_json_path(const JsonPath& path) {
  std::string text = "$";
  for (const std::string& step : path) text += is_index(step) ? "[" + step + "]" : "." + step;
  return text;
}

std::string json_place(const std::string& origin, const JsonPath& path) {
  return origin + ", " + format_json_path(path);
}

void set_json_value(nlohmann::json& document, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse_set(assignment, "expected path=value", "for example --set workload.rounds=10");
  }
  nlohmann::json* at = &document;
  std::string_view rest = std::string_view(assignment).substr(0, equals);
  while (true) {
    const auto dot = rest.find('.');
    const std::string step(rest.substr(0, dot));
    if (step.empty()) refuse_set(assignment, "found an empty step in the path", "");
    if (at->is_array()) {
      at = &array_element(*at, step, assignment);
    } else if (at->is_object() || at->is_null()) {
      at = &(*at)[step];
    } else {
      refuse_set(assignment,
                 fmt::format("\"{}\" is inside a value of type {}", step, at->type_name()), "");
    }
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  const std::string text = assignment.substr(equals + 1);
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  *at = value.is_discarded() ? nlohmann::json(text) : std::move(value);
}

namespace {

constexpr const char* kNotTheSchema = "does not follow the schema";

using nlohmann::json;

/// Follows $ref, and the if/then branch whose `const` the instance has.
const json& applicable(const json& root, const json& schema, const json& instance) {
  if (const auto ref = schema.find("$ref"); ref != schema.end()) {
    return applicable(root, root.at(json::json_pointer(ref->get<std::string>().substr(1))),
                      instance);
  }
  const auto branches = schema.find("allOf");
  if (branches == schema.end() || !instance.is_object()) return schema;
  for (const json& branch : *branches) {
    const auto condition = branch.at("if").at("properties").begin();
    const auto value = instance.find(condition.key());
    if (value != instance.end() && *value == condition.value().at("const")) {
      return applicable(root, branch.at("then"), instance);
    }
  }
  return schema;
}

/// The schema of one key or element; null where the schema says nothing.
const json* child_schema(const json& schema, const std::string& step, const json& instance) {
  if (instance.is_array()) {
    const auto items = schema.find("items");
    return items == schema.end() ? nullptr : &*items;
  }
  if (const auto properties = schema.find("properties"); properties != schema.end()) {
    if (const auto found = properties->find(step); found != properties->end()) return &*found;
  }
  const auto additional = schema.find("additionalProperties");
  return additional != schema.end() && additional->is_object() ? &*additional : nullptr;
}

std::string shown(const json& value) {
  constexpr std::size_t kLongest = 80;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

std::string type_of(const json& value) {
  if (value.is_number_integer()) return "integer";
  return value.type_name();
}

bool has_type(const json& value, const std::string& type) {
  const std::string found = type_of(value);
  return found == type || (type == "number" && found == "integer");
}

std::vector<std::string> keys_of(const json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) {
    if (item.key() != "$schema") keys.push_back(item.key());
  }
  return keys;
}

struct Fault {
  JsonPath path;
  std::string what;
  std::string advice;
};

/// A number or a truth value where text belongs, as --set reads what looks like one.
bool needs_quotes(const json& value, const std::vector<std::string>& types) {
  return (value.is_number() || value.is_boolean()) &&
         std::ranges::find(types, "string") != types.end();
}

std::optional<Fault> type_fault(const json& schema, const json& value, const JsonPath& path) {
  const auto type = schema.find("type");
  if (type == schema.end()) return {};
  std::vector<std::string> types;
  if (type->is_array()) {
    types = type->get<std::vector<std::string>>();
  } else {
    types.push_back(type->get<std::string>());
  }
  if (std::ranges::any_of(types, [&](const std::string& one) { return has_type(value, one); })) {
    return {};
  }
  return Fault{path,
               fmt::format("found {} {}, expected {}", type_of(value), shown(value),
                           fmt::join(types, " or ")),
               needs_quotes(value, types)
                   ? fmt::format("write it in quotes: \"{0}\", or --set '{1}=\"{0}\"'",
                                 shown(value), fmt::join(path, "."))
                   : schema.value("description", "")};
}

std::optional<Fault> choice_fault(const json& schema, const json& value, const JsonPath& path) {
  const auto choices = schema.find("enum");
  if (choices == schema.end()) return {};
  if (std::find(choices->begin(), choices->end(), value) != choices->end()) return {};
  std::vector<std::string> names;
  for (const json& choice : *choices) names.push_back(choice.get<std::string>());
  std::string advice = value.is_string() ? nearest_advice(value.get<std::string>(), names) : "";
  if (value.is_string() && path.size() > 1 && path[path.size() - 2] == "profilers")
    advice = replacement_for(Removed::tracer, value.get<std::string>()).value_or(advice);
  return Fault{path, fmt::format("found {}, expected {}", shown(value), fmt::join(names, " or ")),
               advice};
}

std::optional<Fault> pattern_fault(const json& schema, const json& value, const JsonPath& path) {
  const auto pattern = schema.find("pattern");
  if (pattern == schema.end() || !value.is_string()) return {};
  if (std::regex_search(value.get<std::string>(), std::regex(pattern->get<std::string>())))
    return {};
  return Fault{path,
               fmt::format("found {}, expected text that matches {}", shown(value),
                           pattern->get<std::string>()),
               schema.value("description", "")};
}

std::optional<Fault> object_fault(const json& schema, const json& value, const JsonPath& path) {
  if (!value.is_object()) return {};
  const json none = json::object();
  const json& properties = schema.contains("properties") ? schema["properties"] : none;
  if (schema.contains("additionalProperties") && schema["additionalProperties"] == false) {
    for (const auto& item : value.items()) {
      if (properties.contains(item.key())) continue;
      JsonPath at = path;
      at.push_back(item.key());
      const auto renamed = new_name_of_key(item.key());
      if (renamed && properties.contains(std::string(*renamed)))
        return Fault{
            at,
            fmt::format("found the key \"{}\", which was renamed to \"{}\"", item.key(), *renamed),
            "memduel upgrade-config FILE rewrites a config of an earlier version"};
      const auto names = keys_of(properties);
      const std::string nearest = nearest_advice(item.key(), names);
      return Fault{at, fmt::format("found unknown key \"{}\"", item.key()),
                   nearest.empty() ? fmt::format("expected {}", fmt::join(names, ", ")) : nearest};
    }
  }
  for (const json& key : schema.value("required", json::array())) {
    if (value.contains(key.get<std::string>())) continue;
    return Fault{path,
                 fmt::format("found no key \"{}\", which is required", key.get<std::string>()), ""};
  }
  return {};
}

/// valijson takes a number above 2^63-1 for a negative one.
std::optional<Fault> range_fault(const json& schema, const json& value, const JsonPath& path) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() <= kMost) return {};
  return Fault{
      path,
      fmt::format("found {}, expected at most {}", shown(value), schema.value("maximum", kMost)),
      schema.value("description", "")};
}

/// Walks to the first place where `value` breaks its schema; mirrors the keywords that the schema
/// uses, so that valijson's verdict gets words.
std::optional<Fault> first_fault(const json& root, const json& schema_or_ref, const json& value,
                                 const JsonPath& path) {
  const json& schema = applicable(root, schema_or_ref, value);
  if (auto fault = type_fault(schema, value, path)) return fault;
  if (auto fault = choice_fault(schema, value, path)) return fault;
  if (auto fault = range_fault(schema, value, path)) return fault;
  if (auto fault = pattern_fault(schema, value, path)) return fault;
  if (auto fault = object_fault(schema, value, path)) return fault;
  if (!value.is_structured()) return {};
  std::size_t index = 0;
  for (const auto& item : value.items()) {
    const std::string step = value.is_array() ? std::to_string(index++) : item.key();
    JsonPath at = path;
    at.push_back(step);
    const json* child = child_schema(schema, step, value);
    if (child == nullptr) continue;
    if (auto fault = first_fault(root, *child, item.value(), at)) return fault;
  }
  return {};
}

/// valijson names places as "<root>", "[workload]", "[0]".
JsonPath path_of(const std::vector<std::string>& context) {
  JsonPath path;
  for (const std::string& step : context) {
    if (step.size() > 2 && step.front() == '[') path.push_back(step.substr(1, step.size() - 2));
  }
  return path;
}

const json* value_at(const json& document, const JsonPath& path) {
  const json* at = &document;
  for (const std::string& step : path) {
    if (at->is_array()) {
      const std::size_t index = std::stoul(step);
      if (index >= at->size()) return nullptr;
      at = &(*at)[index];
    } else if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
    } else {
      return nullptr;
    }
  }
  return at;
}

/// valijson writes 1 as 1.000000.
std::string with_short_numbers(std::string text) {
  constexpr std::string_view kZeros = ".000000";
  for (std::size_t at = 0; (at = text.find(kZeros, at)) != std::string::npos;)
    text.erase(at, kZeros.size());
  return text;
}

/// The deepest of valijson's complaints: the others are its echoes on the way up.
Fault fault_of(const valijson::ValidationResults& results, const json& document) {
  const valijson::ValidationResults::Error* deepest = nullptr;
  for (const auto& error : results) {
    if (deepest == nullptr || error.context.size() > deepest->context.size()) deepest = &error;
  }
  if (deepest == nullptr) return {{}, kNotTheSchema, ""};
  Fault fault{path_of(deepest->context), "", with_short_numbers(deepest->description)};
  const json* value = value_at(document, fault.path);
  fault.what = value == nullptr ? kNotTheSchema : "found " + shown(*value);
  return fault;
}

const valijson::Schema& compiled(const json& source, valijson::Schema& into) {
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(source), into);
  return into;
}

void fill(const json& root, const json& schema_or_ref, json& value) {
  const json& schema = applicable(root, schema_or_ref, value);
  if (value.is_array() && schema.contains("items")) {
    for (json& element : value) fill(root, schema["items"], element);
  }
  if (!value.is_object() || !schema.contains("properties")) return;
  for (const auto& property : schema["properties"].items()) {
    if (!value.contains(property.key())) {
      if (!property.value().contains("default")) continue;
      value[property.key()] = property.value()["default"];
    }
    fill(root, property.value(), value[property.key()]);
  }
}

}  // namespace

const json& experiment_schema() {
  static const json schema =
      json::parse(embedded_file(experiment_files(), "schema/experiment.schema.json"));
  return schema;
}

const json& suite_schema() {
  static const json schema =
      json::parse(embedded_file(experiment_files(), "schema/suite.schema.json"));
  return schema;
}

void validate_against_schema(const json& document, const json& schema, const std::string& origin) {
  valijson::Schema storage;
  valijson::ValidationResults results;
  valijson::Validator validator;
  const valijson::adapters::NlohmannJsonAdapter adapter(document);
  if (validator.validate(compiled(schema, storage), adapter, &results)) return;
  const auto explained = first_fault(schema, schema, document, {});
  const Fault fault = explained ? *explained : fault_of(results, document);
  throw Error(ExitCode::usage, fault.what, json_place(origin, fault.path), fault.advice);
}

json with_schema_defaults(json document, const json& schema) {
  fill(schema, schema, document);
  return document;
}

}  // namespace memduel
