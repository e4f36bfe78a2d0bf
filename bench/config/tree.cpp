#include "tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "config/config_json.h"
#include "config/overrides.h"
#include "config/read_document.h"
#include "model/document.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_set(const std::string& assignment, const std::string& what,
                             const std::string& advice) {
  throw Error(ExitCode::usage, what, "--set " + assignment, advice);
}

std::size_t element_index(const nlohmann::json& array, const std::string& step,
                          const std::string& assignment) {
  if (is_index(step)) {
    std::size_t index = array.size();
    std::from_chars(step.data(), step.data() + step.size(), index);
    if (index < array.size()) return index;
    refuse_set(assignment, fmt::format("found index {}, expected one below {}", step, array.size()),
               "");
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const auto name = array[i].is_object() ? array[i].find("name") : array[i].end();
    if (name == array[i].end() || !name->is_string()) continue;
    if (*name == step) return i;
    names.push_back(*name);
  }
  refuse_set(assignment, fmt::format("no element is named \"{}\"", step),
             nearest_advice(step, names));
}

}  // namespace

JsonPath set_json_value(nlohmann::json& document, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse_set(assignment, "expected path=value", "for example --set workload.rounds=10");
  }
  nlohmann::json* at = &document;
  JsonPath path;
  std::string_view rest = std::string_view(assignment).substr(0, equals);
  while (true) {
    const auto dot = rest.find('.');
    const std::string step(rest.substr(0, dot));
    if (step.empty()) refuse_set(assignment, "found an empty step in the path", "");
    if (at->is_array()) {
      const std::size_t index = element_index(*at, step, assignment);
      at = &(*at)[index];
      path.push_back(std::to_string(index));
    } else if (at->is_object() || at->is_null()) {
      at = &(*at)[step];
      path.push_back(step);
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
  return path;
}

namespace {

/// The gates that the config names, where the overrides have others. What is no list of texts, the
/// schema refuses.
std::vector<std::string> replaced_gates(const json& document, const Overrides& overrides) {
  std::vector<std::string> replaced;
  if (overrides.gates.empty() || !document.is_object()) return replaced;
  for (const json& gate : document.value("gates", json::array()))
    if (gate.is_string()) replaced.push_back(gate);
  if (replaced == overrides.gates) replaced.clear();
  return replaced;
}

}  // namespace

std::vector<std::string> apply_overrides(ConfigTree& tree, const Overrides& overrides) {
  std::vector<std::string> replaced = replaced_gates(tree.root, overrides);
  const auto set = [&](const std::string& assignment, const std::string& option) {
    tree.places.replace(set_json_value(tree.root, assignment), option);
  };
  for (const std::string& assignment : overrides.set) set(assignment, "--set " + assignment);
  if (overrides.repeats) set(fmt::format("measure.repeats={}", *overrides.repeats), "--repeats");
  if (overrides.warmups) set(fmt::format("measure.warmups={}", *overrides.warmups), "--warmup");
  if (!overrides.gates.empty()) set("gates=" + json(overrides.gates).dump(), "--gate");
  return replaced;
}

namespace {

/// The axes of one variant's matrix, and their place.
class Matrix {
 public:
  Matrix(const json& variant, std::size_t index, const Places& places)
      : variant_(variant), places_(places), path_(variant_path(index)) {
    path_.emplace_back("matrix");
  }

  /// The variants for which it stands.
  json expand() {
    const json& axes = variant_.at("matrix");
    if (!axes.is_array() || axes.empty())
      refuse(path_, "found no axes, expected a list of at least one");
    if (!variant_.contains("name") || !variant_["name"].is_string())
      refuse(path_, "found no name before it, with which its variants' names begin");
    json variants = json::array({variant_});
    variants[0].erase("matrix");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      JsonPath at = path_;
      at.push_back(std::to_string(i));
      variants = multiplied(variants, axes[i], at);
    }
    return variants;
  }

 private:
  [[noreturn]] void refuse(const JsonPath& path, const std::string& what) const {
    throw Error(ExitCode::usage, what, places_.at(path),
                "an axis is an object of names and what each changes in the variant");
  }

  /// Every variant so far with each value of the axis.
  [[nodiscard]] json multiplied(const json& variants, const json& axis,
                                const JsonPath& path) const {
    if (!axis.is_object() || axis.empty())
      refuse(path, "found no names, expected an object with at least one");
    json all = json::array();
    for (const json& variant : variants)
      for (const auto& [name, change] : axis.items()) {
        JsonPath at = path;
        at.push_back(name);
        if (!change.is_object()) refuse(at, "found no object, expected what changes");
        if (change.contains("name") || change.contains("matrix"))
          refuse(at, "found a name or a matrix, which an axis does not change");
        json one = variant;
        one.merge_patch(change);
        one["name"] = one["name"].get<std::string>() + "-" + name;
        all.push_back(std::move(one));
      }
    if (all.size() > kMostVariants)
      refuse(path, fmt::format("found a matrix of {} variants, expected at most {}", all.size(),
                               kMostVariants));
    return all;
  }

  const json& variant_;
  const Places& places_;
  JsonPath path_;
};

}  // namespace

void expand_matrices(ConfigTree& tree) {
  const std::string list = variant_path(0).front();
  if (!tree.root.is_object() || !tree.root.contains(list) || !tree.root[list].is_array()) return;
  json all = json::array();
  std::vector<std::size_t> from;
  const json& given = tree.root[list];
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool has_matrix = given[i].is_object() && given[i].contains("matrix");
    json own = has_matrix ? Matrix(given[i], i, tree.places).expand() : json::array({given[i]});
    for (json& one : own) all.push_back(std::move(one));
    from.resize(all.size(), i);
  }
  tree.root[list] = std::move(all);
  tree.places.rearrange(list, from);
}

}  // namespace memduel
