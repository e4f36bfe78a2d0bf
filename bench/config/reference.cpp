#include "config/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "model/keys.h"

namespace memduel {
namespace {

constexpr std::size_t kLongestLine = 160;

std::string indented_text(const Schema& value, std::size_t indent) {
  std::string line = value.dump();
  if (!value.is_structured() || value.empty() || line.size() + indent <= kLongestLine) return line;
  const std::string margin(indent + 2, ' ');
  std::string text = value.is_object() ? "{" : "[";
  for (auto item = value.begin(); item != value.end(); ++item) {
    text += (item == value.begin() ? "\n" : ",\n") + margin;
    if (value.is_object()) text += Schema(item.key()).dump() + ": ";
    text += indented_text(*item, indent + 2);
  }
  return text + "\n" + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
}

const Schema& definition(const Schema& root, const Schema& schema) {
  const auto ref = schema.find("$ref");
  return ref == schema.end() ? schema
                             : root.at(Schema::json_pointer(ref->get<std::string>().substr(1)));
}

/// The schema of the object that a key has, alone, in a list or by names; null for other values.
/// `path` gets the steps in between.
const Schema* object_in(const Schema& root, const Schema& schema, std::string& path) {
  const Schema& own = definition(root, schema);
  if (own.contains("allOf")) return object_in(root, own["allOf"][0].at("then"), path);
  if (own.contains("properties")) return &own;
  if (own.contains("items") && !own.at("items").empty()) {
    path += "[]";
    return object_in(root, own.at("items"), path);
  }
  const auto names = own.find("additionalProperties");
  if (names == own.end() || !names->is_object()) return nullptr;
  path += ".NAME";
  return object_in(root, *names, path);
}

std::string range_of(const Schema& schema) {
  const auto limit = [&](const char* key) {
    return schema.contains(key) ? schema.at(key).dump() : std::string();
  };
  const std::string least = limit("minimum");
  const std::string most = limit("maximum");
  if (schema.contains("exclusiveMinimum"))
    return fmt::format(" above {}{}", limit("exclusiveMinimum"),
                       most.empty() ? "" : ", at most " + most);
  if (!least.empty() && !most.empty()) return fmt::format(" from {} to {}", least, most);
  return least.empty() ? "" : " from " + least;
}

std::string type_text(const Schema& root, const Schema& schema);

std::string joined_choices(const Schema& choices) {
  std::vector<std::string> names;
  for (const Schema& choice : choices)
    names.push_back(
        fmt::format("`{}`", choice.is_string() ? choice.get<std::string>() : choice.dump()));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What a value is, in words.
std::string type_text(const Schema& root, const Schema& schema) {
  const Schema& own = definition(root, schema);
  if (own.contains("enum")) return joined_choices(own.at("enum"));
  if (own.contains("const")) return joined_choices({own.at("const")});
  if (own.contains("anyOf"))
    return type_text(root, own["anyOf"][0]) + " or " + type_text(root, own["anyOf"][1]);
  if (!own.contains("type")) return own.contains("allOf") ? "object" : "any";
  if (own.at("type").is_array())
    return fmt::format("{}", fmt::join(own.at("type").get<std::vector<std::string>>(), " or "));
  const std::string type = own.at("type");
  if (type == "string") return "text";
  if (type == "array" && own.contains("items"))
    return "list of " + type_text(root, own.at("items"));
  if (type == "object" && own.contains("additionalProperties") &&
      own.at("additionalProperties").is_object())
    return "object of " + type_text(root, own.at("additionalProperties"));
  return type + range_of(own);
}

/// One key of a config: its path and what the schema says of it.
struct KeyRow {
  std::string path;
  const Schema* schema;
  bool required;
};

void visit_keys(const Schema& root, const Schema& object, const std::string& path,
                const std::function<void(const KeyRow&)>& visit) {
  const Schema required = object.value("required", Schema::array());
  for (const auto& [name, key] : object.at("properties").items()) {
    if (name == "$schema") continue;
    std::string inner = path.empty() ? name : path + "." + name;
    visit({inner, &key, std::find(required.begin(), required.end(), name) != required.end()});
    if (const Schema* below = object_in(root, key, inner)) visit_keys(root, *below, inner, visit);
  }
}

std::string row_text(const Schema& root, const KeyRow& row) {
  const Schema& own = definition(root, *row.schema);
  const std::string description =
      row.schema->value("description", own.value("description", std::string()));
  const std::string fallback =
      row.required ? "required"
      : row.schema->contains("default") && !row.schema->at("default").empty()
          ? "`" + row.schema->at("default").dump() + "`"
          : "";
  std::string text = fmt::format("| `{}` | {} | {} | {} |\n", row.path,
                                 type_text(root, *row.schema), fallback, description);
  for (std::size_t at = text.find("LIMIT[|LIMIT]"); at != std::string::npos;
       at = text.find("LIMIT[|LIMIT]", at + 1))
    text.insert(at + 6, "\\");
  return text;
}

}  // namespace

std::string schema_text(const Schema& schema) {
  return indented_text(schema, 0) + "\n";
}

std::string config_reference() {
  const Schema schema = experiment_schema_in_order();
  std::string text =
      "# Keys of a config\n\n"
      "This page lists every key of an experiment. `[]` stands for each element of a list, `NAME` "
      "for a name of your own.\n"
      "[jobs.md](jobs.md) explains how to write a config; `--set PATH=VALUE` changes one key of "
      "it, with an index or a name instead of `[]`.\n"
      "This page and `configs/schema/experiment.schema.json` are generated from the tables in "
      "`model/document.cpp` and `model/job.cpp`.\n\n"
      "| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
  visit_keys(schema, schema, "", [&](const KeyRow& row) { text += row_text(schema, row); });
  return text;
}

std::vector<std::string> config_key_paths() {
  const Schema schema = experiment_schema_in_order();
  std::vector<std::string> paths;
  visit_keys(schema, schema, "", [&](const KeyRow& row) {
    std::string path = row.path;
    for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]", at))
      path.replace(at, 2, ".0");
    paths.push_back(std::move(path));
  });
  return paths;
}

}  // namespace memduel
