#include "tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "config/config_json.h"
#include "config/overrides.h"
#include "config/read_document.h"
#include "model/document.h"
#include "model/keys.h"
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
    refuse_set(assignment,
               fmt::format("expected an index below {1}, found {0}", step, array.size()), "");
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
    try {
      tree.places.replace(set_json_value(tree.root, assignment), option);
    } catch (const Error& error) {
      throw Error(error.code(), error.what(), option, error.advice());
    }
  };
  for (const std::string& assignment : overrides.set) {
    const auto place = overrides.set_places.find(assignment);
    set(assignment, place == overrides.set_places.end() ? "--set " + assignment : place->second);
  }
  if (overrides.repeats) set(fmt::format("measure.repeats={}", *overrides.repeats), "--repeats");
  if (overrides.warmups) set(fmt::format("measure.warmups={}", *overrides.warmups), "--warmup");
  if (!overrides.gates.empty()) set("gates=" + json(overrides.gates).dump(), "--gate");
  return replaced;
}

namespace {

/// One of the variants for which a matrix stands.
struct Combination {
  json variant;
  std::map<JsonPath, JsonPath> moved;  ///< in the variant: where an axis has it
};

/// Notes what a change puts in a variant.
void note_changes(const json& before, const json& change, const JsonPath& path,
                  const JsonPath& origin, std::map<JsonPath, JsonPath>& moved) {
  for (const auto& item : change.items()) {
    const JsonPath at = below(path, item.key());
    const JsonPath from = below(origin, item.key());
    const auto own = before.find(item.key());
    if (item.value().is_object() && own != before.end() && own->is_object())
      note_changes(*own, item.value(), at, from, moved);
    else
      moved[at] = from;
  }
}

/// The axes of one variant's matrix, and their place.
class Matrix {
 public:
  Matrix(const json& variant, std::size_t index, const Places& places)
      : variant_(variant), places_(places), path_(below(variant_path(index), "matrix")) {}

  std::vector<Combination> expand() {
    const json& axes = variant_.at("matrix");
    if (!axes.is_array() || axes.empty()) refuse(path_, "expected at least one axis, found none");
    if (!variant_.contains("name") || !variant_["name"].is_string())
      refuse(path_, "expected a name before it, the prefix of its variants' names, found none");
    std::vector<Combination> all = {{variant_, {}}};
    all[0].variant.erase("matrix");
    for (std::size_t i = 0; i < axes.size(); ++i) all = multiplied(all, axes[i], below(path_, i));
    return all;
  }

 private:
  [[noreturn]] void refuse(const JsonPath& path, const std::string& what) const {
    throw Error(ExitCode::usage, what, places_.at(path),
                "an axis is an object of names and the changes of each to the variant");
  }

  /// Every variant so far with each value of the axis.
  [[nodiscard]] std::vector<Combination> multiplied(const std::vector<Combination>& variants,
                                                    const json& axis, const JsonPath& path) const {
    if (!axis.is_object() || axis.empty()) refuse(path, "expected at least one name, found none");
    std::vector<Combination> all;
    for (const Combination& variant : variants)
      for (const auto& [name, change] : axis.items()) {
        const JsonPath at = below(path, name);
        if (!change.is_object()) refuse(at, "expected an object of keys to change, found none");
        if (change.contains("name") || change.contains("matrix"))
          refuse(at, "found a name or a matrix, which an axis cannot change");
        Combination one = variant;
        note_changes(variant.variant, change, {}, at, one.moved);
        one.variant.merge_patch(change);
        one.variant["name"] = one.variant["name"].get<std::string>() + "-" + name;
        all.push_back(std::move(one));
      }
    if (all.size() > kMostVariants)
      refuse(path, fmt::format("expected a matrix of at most {1} variants, found {0}", all.size(),
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
  std::vector<Combination> all;
  std::vector<std::size_t> from;
  const json& given = tree.root[list];
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].is_object() && given[i].contains("matrix"))
      for (Combination& one : Matrix(given[i], i, tree.places).expand())
        all.push_back(std::move(one));
    else
      all.push_back({given[i], {}});
    from.resize(all.size(), i);
  }
  tree.places.rearrange(list, from);
  json variants = json::array();
  for (Combination& one : all) {
    JsonPath path = variant_path(variants.size());
    for (const auto& [at, origin] : one.moved) {
      JsonPath now = path;
      now.insert(now.end(), at.begin(), at.end());
      tree.places.move(now, origin);
    }
    variants.push_back(std::move(one.variant));
  }
  tree.root[list] = std::move(variants);
}

}  // namespace memduel
