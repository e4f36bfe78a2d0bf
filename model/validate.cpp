#include "model/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "model/removed.h"
#include "model/renamed_since_1.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Follows $ref, and the if/then branch whose `const` the instance has.
const json& applicable(const json& root, const json& schema, const json& instance) {
  if (const auto ref = schema.find("$ref"); ref != schema.end())
    return applicable(root, root.at(json::json_pointer(ref->get<std::string>().substr(1))),
                      instance);
  const auto branches = schema.find("allOf");
  if (branches == schema.end() || !instance.is_object()) return schema;
  for (const json& branch : *branches) {
    const auto condition = branch.at("if").at("properties").begin();
    const auto value = instance.find(condition.key());
    if (value != instance.end() && *value == condition.value().at("const"))
      return applicable(root, branch.at("then"), instance);
  }
  return schema;
}

/// The schema of one key or element; null where the schema says nothing.
const json* child_schema(const json& schema, const std::string& step, const json& instance) {
  if (instance.is_array()) {
    const auto items = schema.find("items");
    return items == schema.end() ? nullptr : &*items;
  }
  if (const auto properties = schema.find("properties"); properties != schema.end())
    if (const auto found = properties->find(step); found != properties->end()) return &*found;
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

std::vector<std::string> types_of(const json& schema) {
  const auto type = schema.find("type");
  if (type == schema.end()) return {};
  return type->is_array() ? type->get<std::vector<std::string>>()
                          : std::vector{type->get<std::string>()};
}

bool has_type(const json& value, const std::vector<std::string>& types) {
  const std::string found = type_of(value);
  return std::ranges::any_of(types, [&](const std::string& type) {
    return type == found || (type == "number" && found == "integer");
  });
}

struct Fault {
  JsonPath path;
  std::string what;
  std::string advice;
  /// The text that the value should be.
  std::string quoted = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

std::string description_of(const json& schema) {
  return schema.value("description", "");
}

/// A number or a truth value where text belongs, as --set reads what looks like one.
bool needs_quotes(const json& value, const std::vector<std::string>& types) {
  return (value.is_number() || value.is_boolean()) &&
         std::ranges::find(types, "string") != types.end();
}

/// Of one of a few choices they say more than its type.
std::optional<Fault> type_fault(const json& schema, const json& value, const JsonPath& path) {
  const std::vector<std::string> types = types_of(schema);
  if (types.empty() || schema.contains("enum") || has_type(value, types)) return {};
  const std::string found = value.is_null() ? "null" : type_of(value) + " " + shown(value);
  return Fault{path, fmt::format("expected {1}, found {0}", found, fmt::join(types, " or ")),
               description_of(schema), needs_quotes(value, types) ? shown(value) : ""};
}

std::optional<Fault> choice_fault(const json& schema, const json& value, const JsonPath& path) {
  json choices = schema.value("enum", json::array());
  if (schema.contains("const")) choices.push_back(schema.at("const"));
  if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return {};
  std::vector<std::string> names;
  for (const json& choice : choices)
    names.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
  std::string advice = value.is_string() ? nearest_advice(value.get<std::string>(), names) : "";
  if (value.is_string() && path.size() > 1 && path[path.size() - 2] == "profilers")
    advice = replacement_for(Removed::tracer, value.get<std::string>()).value_or(advice);
  return Fault{path, fmt::format("expected {1}, found {0}", shown(value), fmt::join(names, " or ")),
               advice};
}

std::string number_text(const json& number) {
  return number.is_number_float() ? fmt::format("{}", number.get<double>()) : number.dump();
}

/// "from 1 to 9", "at least 1", "above 0 and at most 9"; empty where the schema has no limit.
std::string limits_text(const json& schema, const char* least, const char* most) {
  const bool from = schema.contains(least);
  const bool to = schema.contains(most);
  if (schema.contains("exclusiveMinimum") && std::string_view(least) == "minimum")
    return "above " + number_text(schema.at("exclusiveMinimum")) +
           (to ? " and at most " + number_text(schema.at(most)) : "") +
           (schema.contains("exclusiveMaximum")
                ? " and below " + number_text(schema.at("exclusiveMaximum"))
                : "");
  if (from && to && schema.at(least) == schema.at(most))
    return "exactly " + number_text(schema.at(least));
  if (from && to)
    return fmt::format("from {} to {}", number_text(schema.at(least)),
                       number_text(schema.at(most)));
  if (from) return "at least " + number_text(schema.at(least));
  return to ? "at most " + number_text(schema.at(most)) : "";
}

bool is_within(double value, const json& schema, const char* least, const char* most) {
  return value >= schema.value(least, value) && value <= schema.value(most, value);
}

std::optional<Fault> number_fault(const json& schema, const json& value, const JsonPath& path) {
  if (!value.is_number()) return {};
  const double number = value.get<double>();
  const bool above =
      !schema.contains("exclusiveMinimum") || number > schema.at("exclusiveMinimum").get<double>();
  const bool below =
      !schema.contains("exclusiveMaximum") || number < schema.at("exclusiveMaximum").get<double>();
  if (above && below && is_within(number, schema, "minimum", "maximum")) return {};
  return Fault{path,
               fmt::format("expected {1} {2}, found {0}", shown(value),
                           has_type(0.5, types_of(schema)) ? "a number" : "an integer",
                           limits_text(schema, "minimum", "maximum")),
               description_of(schema)};
}

/// Of texts, lists and objects.
std::optional<Fault> size_fault(const json& schema, const json& value, const JsonPath& path) {
  struct Sized {
    const char* least;
    const char* most;
    std::string unit;  ///< of one
    std::size_t size;
  };
  const auto check = [&](const Sized& sized) -> std::optional<Fault> {
    if (is_within(static_cast<double>(sized.size), schema, sized.least, sized.most)) return {};
    const std::string limits = limits_text(schema, sized.least, sized.most);
    return Fault{path,
                 fmt::format("expected {1} {2}{3}, found {0}", shown(value), limits, sized.unit,
                             limits.ends_with(" 1") ? "" : "s"),
                 description_of(schema)};
  };
  if (value.is_string())
    return check({"minLength", "maxLength", "character",
                  count_characters(value.get_ref<const std::string&>())});
  if (value.is_array()) return check({"minItems", "maxItems", "element", value.size()});
  if (value.is_object()) return check({"minProperties", "maxProperties", "key", value.size()});
  return {};
}

std::optional<Fault> repetition_fault(const json& schema, const json& value, const JsonPath& path) {
  if (!value.is_array() || !schema.value("uniqueItems", false)) return {};
  for (auto element = value.begin(); element != value.end(); ++element) {
    if (std::find(value.begin(), element, *element) == element) continue;
    JsonPath at = path;
    at.push_back(std::to_string(element - value.begin()));
    return Fault{at, fmt::format("expected each element once, found {} twice", shown(*element)),
                 ""};
  }
  return {};
}

std::optional<Fault> pattern_fault(const json& schema, const json& value, const JsonPath& path) {
  const auto pattern = schema.find("pattern");
  if (pattern == schema.end() || !value.is_string()) return {};
  if (std::regex_search(value.get<std::string>(), std::regex(pattern->get<std::string>())))
    return {};
  return Fault{path,
               fmt::format("expected text that matches {1}, found {0}", shown(value),
                           pattern->get<std::string>()),
               description_of(schema)};
}

Fault unknown_key(const json& properties, const std::string& key, JsonPath path) {
  std::vector<std::string> names;
  for (const auto& property : properties.items())
    if (property.key() != "$schema") names.push_back(property.key());
  path.push_back(key);
  const auto renamed = new_name_of_key(key);
  if (renamed && properties.contains(std::string(*renamed)))
    return {path, fmt::format("found the key \"{}\", which was renamed to \"{}\"", key, *renamed),
            "memduel upgrade-config FILE rewrites a config of an earlier version"};
  return {path, fmt::format("found unknown key \"{}\"", key),
          nearest_advice(key, names, fmt::format("expected {}", fmt::join(names, ", ")))};
}

Fault removed_key(const std::string& key, const std::string& instead, JsonPath path) {
  path.push_back(key);
  return {path, fmt::format("found the removed key \"{}\": {}", key, instead), ""};
}

std::optional<Fault> object_fault(const json& schema, const json& value, const JsonPath& path) {
  if (!value.is_object()) return {};
  const json properties = schema.value("properties", json::object());
  const bool takes_any = schema.value("additionalProperties", json()) != false;
  for (const auto& item : value.items()) {
    const auto property = properties.find(item.key());
    if (property == properties.end() && !takes_any)
      return unknown_key(properties, item.key(), path);
    if (property != properties.end() && property->contains("removed"))
      return removed_key(item.key(), property->at("removed"), path);
  }
  for (const std::string key : schema.value("required", json::array()))
    if (!value.contains(key))
      return Fault{path, fmt::format("found no key \"{}\", which is required", key),
                   description_of(properties.value(key, json::object()))};
  return {};
}

std::optional<Fault> first_fault(const json& root, const json& schema, const json& value,
                                 const JsonPath& path);

/// Of several forms the one of the value's type is meant.
std::optional<Fault> form_fault(const json& root, const json& schema, const json& value,
                                const JsonPath& path) {
  const auto forms = schema.find("anyOf");
  if (forms == schema.end()) return {};
  std::vector<std::string> types;
  for (const json& each : *forms) {
    const json& form = applicable(root, each, value);
    const auto own = types_of(form);
    if (has_type(value, own)) return first_fault(root, form, value, path);
    types.insert(types.end(), own.begin(), own.end());
  }
  return type_fault({{"type", types}}, value, path);
}

std::optional<Fault> fault_inside(const json& root, const json& schema, const json& value,
                                  const JsonPath& path) {
  if (!value.is_structured()) return {};
  std::size_t index = 0;
  for (const auto& item : value.items()) {
    JsonPath at = path;
    at.push_back(value.is_array() ? std::to_string(index++) : item.key());
    const json* child = child_schema(schema, at.back(), value);
    if (child == nullptr) continue;
    if (auto fault = first_fault(root, *child, item.value(), at)) return fault;
  }
  return {};
}

std::optional<Fault> first_fault(const json& root, const json& schema_or_ref, const json& value,
                                 const JsonPath& path) {
  const json& schema = applicable(root, schema_or_ref, value);
  for (const auto check : {type_fault, choice_fault, number_fault, object_fault, size_fault,
                           repetition_fault, pattern_fault})
    if (auto fault = check(schema, value, path)) return fault;
  if (auto fault = form_fault(root, schema, value, path)) return fault;
  return fault_inside(root, schema, value, path);
}

void fill(const json& root, const json& schema_or_ref, json& value) {
  const json& schema = applicable(root, schema_or_ref, value);
  if (value.is_array() && schema.contains("items"))
    for (json& element : value) fill(root, schema["items"], element);
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

void validate_against_schema(const json& document, const json& schema, const Places& places) {
  const auto fault = first_fault(schema, schema, document, {});
  if (!fault) return;
  throw Error(ExitCode::usage, fault->what, places.at(fault->path),
              fault->quoted.empty()
                  ? fault->advice
                  : fmt::format("write it in quotes: \"{0}\", or --set '{1}=\"{0}\"'",
                                fault->quoted, places.set_path(fault->path)));
}

json with_schema_defaults(json document, const json& schema) {
  fill(schema, schema, document);
  return document;
}

}  // namespace memduel
