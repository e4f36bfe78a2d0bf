#include "experiment/config/arm_matrix.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "experiment/config/json_text.h"

namespace memduel {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& what, const std::string& origin, JsonPath path) {
  throw Error(ExitCode::usage, what, json_place(origin, path),
              "an axis is an object of names and what each changes in the arm");
}

/// Every arm so far with each value of the axis.
std::vector<json> multiplied(const std::vector<json>& arms, const json& axis,
                             const std::string& origin, const JsonPath& path) {
  if (!axis.is_object() || axis.empty())
    refuse("found no names, expected an object with at least one", origin, path);
  std::vector<json> all;
  for (const json& arm : arms)
    for (const auto& [name, change] : axis.items()) {
      JsonPath at = path;
      at.push_back(name);
      if (!change.is_object()) refuse("found no object, expected what changes", origin, at);
      if (change.contains("name") || change.contains("matrix"))
        refuse("found a name or a matrix, which an axis does not change", origin, at);
      json one = arm;
      one.merge_patch(change);
      one["name"] = one["name"].get<std::string>() + "-" + name;
      all.push_back(std::move(one));
    }
  if (all.size() > kMostArms)
    refuse(fmt::format("found a matrix of {} arms, expected at most {}", all.size(), kMostArms),
           origin, path);
  return all;
}

std::vector<json> arms_of(json arm, const std::string& origin, JsonPath path) {
  const json axes = arm["matrix"];
  arm.erase("matrix");
  path.emplace_back("matrix");
  if (!axes.is_array() || axes.empty())
    refuse("found no axes, expected a list of at least one", origin, path);
  if (!arm.contains("name") || !arm["name"].is_string())
    refuse("found no name before it, with which its arms' names begin", origin, path);
  std::vector<json> arms = {std::move(arm)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    JsonPath at = path;
    at.push_back(std::to_string(i));
    arms = multiplied(arms, axes[i], origin, at);
  }
  return arms;
}

}  // namespace

void expand_arm_matrices(json& document, const std::string& origin) {
  if (!document.is_object() || !document.contains("arms") || !document["arms"].is_array()) return;
  json all = json::array();
  const json& given = document["arms"];
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].is_object() || !given[i].contains("matrix")) {
      all.push_back(given[i]);
      continue;
    }
    for (json& arm : arms_of(given[i], origin, {"arms", std::to_string(i)}))
      all.push_back(std::move(arm));
  }
  document["arms"] = std::move(all);
}

}  // namespace memduel
