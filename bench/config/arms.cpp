#include "config/arms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "config/config_json.h"
#include "config/experiment.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestArmName = 60;     // as in the schema
constexpr std::size_t kLongestTitle = 100;      // as in the schema
constexpr const char* kTitleEnd = "-ablation";  // so that its runs lie apart from the duel's

/// What an arm is made of.
struct Variant {
  json optimizations;
  std::map<std::string, std::string> env;
  std::optional<Allocator> allocator;
  bool operator==(const Variant&) const = default;
};

/// One thing in which the two arms differ.
struct Switch {
  enum class Kind { optimization, variable, allocator };
  std::string name;
  Kind kind = Kind::optimization;
};

Variant variant_of(const Arm& arm) {
  return {arm.optimizations, arm.env, arm.allocator};
}

/// `to` with the one switch as `from` has it.
Variant with(Variant to, const Switch& one, const Variant& from) {
  if (one.kind == Switch::Kind::optimization) {
    to.optimizations[one.name] = from.optimizations.at(one.name);
    return to;
  }
  if (one.kind == Switch::Kind::allocator) {
    to.allocator = from.allocator;
    return to;
  }
  to.env.erase(one.name);
  if (const auto found = from.env.find(one.name); found != from.env.end()) to.env.insert(*found);
  return to;
}

/// The variables and the allocator.
std::vector<Switch> differences_around(const Variant& a, const Variant& b) {
  std::vector<Switch> found;
  std::set<std::string> variables;
  for (const auto& [name, value] : a.env) variables.insert(name);
  for (const auto& [name, value] : b.env) variables.insert(name);
  for (const std::string& name : variables) {
    const auto of_a = a.env.find(name);
    const auto of_b = b.env.find(name);
    if (of_a == a.env.end() || of_b == b.env.end() || of_a->second != of_b->second)
      found.push_back({name, Switch::Kind::variable});
  }
  if (a.allocator != b.allocator) found.push_back({"allocator", Switch::Kind::allocator});
  return found;
}

/// In the order of the catalog; after the optimizations the variables, then the allocator.
std::vector<Switch> differences(const Variant& a, const Variant& b, const Catalog& catalog) {
  std::vector<Switch> found;
  for (const Optimization& one : catalog.optimizations) {
    const auto of_a = a.optimizations.find(one.name);
    if (of_a != a.optimizations.end() && *of_a != b.optimizations.at(one.name))
      found.push_back({one.name});
  }
  for (Switch& one : differences_around(a, b)) found.push_back(std::move(one));
  return found;
}

/// A command has no switches; its arms may still be taken apart by hand.
[[noreturn]] void refuse_command(const Experiment& experiment, const Arm& baseline,
                                 const Arm& candidate) {
  std::vector<std::string> names;
  for (const Switch& one : differences_around(variant_of(baseline), variant_of(candidate)))
    names.push_back(one.name);
  throw Error(
      ExitCode::usage, "a command workload has no switches to take apart", experiment.name,
      names.empty()
          ? "a provider can give it some: docs/providers.md"
          : fmt::format("\"{}\" and \"{}\" differ in {}: give each of them a variant of its own, "
                        "which is \"{}\" with that alone, and memduel run compares them all",
                        baseline.name, candidate.name, fmt::join(names, " and "), baseline.name));
}

/// "original+framing"; a name that would be too long loses the end of the arm's part.
std::string arm_name(const std::string& arm, char sign, const std::string& name) {
  std::string end = sign + name;
  for (char& c : end)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-' &&
        c != '+')
      c = '_';
  return arm.substr(0, kLongestArmName - std::min(end.size(), kLongestArmName - 1)) + end;
}

json document_of(const Variant& variant, const std::string& name) {
  json arm = {{"name", name}, {"switches", variant.optimizations}, {"env", variant.env}};
  if (variant.allocator) arm["allocator"] = memduel::name_of(*variant.allocator);
  return arm;
}

/// The arms of the ablation, none of them twice.
class Arms {
 public:
  Arms(const Arm& baseline, const Arm& candidate)
      : known_{{baseline.name, variant_of(baseline)}, {candidate.name, variant_of(candidate)}} {}

  /// The name of the arm that runs `variant`.
  std::string name_of(const Variant& variant, const std::string& new_name) {
    for (const auto& [name, known] : known_)
      if (known == variant) return name;
    known_.emplace_back(new_name, variant);
    added_.push_back(document_of(variant, new_name));
    return new_name;
  }

  [[nodiscard]] const json& added() const { return added_; }

 private:
  std::vector<std::pair<std::string, Variant>> known_;
  json added_ = json::array();
};

const Arm& named_arm(const Experiment& experiment, const std::string& name, const char* option) {
  std::vector<std::string> names;
  for (const Arm& arm : experiment.arms) {
    if (arm.name == name) return arm;
    names.push_back(arm.name);
  }
  refuse_arm(name, names, option);
}

const Arm& last_arm_beside(const Experiment& experiment, const std::string& baseline) {
  for (auto arm = experiment.arms.rbegin(); arm != experiment.arms.rend(); ++arm)
    if (arm->name != baseline && !arm->twin_of) return *arm;
  throw Error(ExitCode::usage, "found no variant beside the baseline to take apart", "variants");
}

json arm_document(const Experiment& experiment, const std::string& name) {
  for (const json& arm : experiment.resolved.at("variants"))
    if (arm.at("name") == name) return arm;
  return {};
}

/// One switch flipped in one of the two arms, and why no arm measures that.
struct Cell {
  std::string arm;
  Variant variant;
  json why_not;  ///< null where one does
};

Cell flipped(const Switch& one, const Arm& around, char sign, const Arm& value_from,
             const IdleSwitches& idle) {
  Cell cell{arm_name(around.name, sign, one.name),
            with(variant_of(around), one, variant_of(value_from)), nullptr};
  const auto found = idle.find(one.name);
  if (one.kind == Switch::Kind::optimization && found != idle.end())
    cell.why_not = {{"idle", found->second}};
  return cell;
}

/// Both cells of a switch.
struct CellPair {
  std::string name;
  Cell added_alone;
  Cell left_out;
};

/// What the provider says of the arms of an ablation.
struct Asked {
  const Expansion& expansion;
  const std::string& origin;
  const AskProvider& ask;

  std::vector<IdleSwitches> idle(const json& arms) const {
    return ask_about_arms(expansion, arms, origin, ask);
  }
  /// Absent where it runs all of them.
  [[nodiscard]] std::optional<std::string> refusal(const json& arms) const {
    try {
      idle(arms);
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage) throw;
      return error.what();
    }
    return std::nullopt;
  }
};

/// Asks once where the provider runs all, else for each.
void mark_refused(std::vector<CellPair>& pairs, const Asked& asked) {
  std::vector<Cell*> cells;
  json arms = json::array();
  for (CellPair& pair : pairs)
    for (Cell* cell : {&pair.added_alone, &pair.left_out})
      if (cell->why_not.is_null()) {
        cells.push_back(cell);
        arms.push_back(document_of(cell->variant, cell->arm));
      }
  if (!asked.refusal(arms)) return;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (const auto refused = asked.refusal(json::array({arms[i]})))
      cells[i]->why_not = {{"refused", *refused}};
}

json section_cell(const Cell& cell, Arms& arms) {
  if (!cell.why_not.is_null()) return cell.why_not;
  return {{"variant", arms.name_of(cell.variant, cell.arm)}};
}

}  // namespace

Experiment ablation_experiment(const Experiment& experiment, const AblationChoice& choice,
                               const AskProvider& ask) {
  const auto& expansion = experiment.expansion;
  const Arm& baseline =
      named_arm(experiment, choice.baseline.value_or(experiment.baseline), "--baseline");
  const Arm& candidate = choice.candidate ? named_arm(experiment, *choice.candidate, "--candidate")
                                          : last_arm_beside(experiment, baseline.name);
  if (!expansion) refuse_command(experiment, baseline, candidate);
  const auto switches =
      differences(variant_of(baseline), variant_of(candidate), expansion->catalog);
  if (switches.empty())
    throw Error(ExitCode::usage,
                fmt::format("the variants \"{}\" and \"{}\" differ in no switch", baseline.name,
                            candidate.name),
                experiment.name, "name two others with --baseline and --candidate");

  const std::string origin = "ablation of " + experiment.name;
  const Asked asked{*expansion, origin, ask};
  const auto idle = asked.idle(json::array({document_of(variant_of(baseline), baseline.name),
                                            document_of(variant_of(candidate), candidate.name)}));
  std::vector<CellPair> pairs;
  for (const Switch& one : switches)
    pairs.push_back({one.name, flipped(one, baseline, '+', candidate, idle[0]),
                     flipped(one, candidate, '-', baseline, idle[1])});
  mark_refused(pairs, asked);

  Arms arms(baseline, candidate);
  json section = {{"candidate", candidate.name}, {"switches", json::array()}};
  for (const CellPair& pair : pairs) {
    json added_alone = section_cell(pair.added_alone, arms);
    json left_out = section_cell(pair.left_out, arms);
    section["switches"].push_back({{"name", pair.name},
                                   {"added_alone", std::move(added_alone)},
                                   {"removed_alone", std::move(left_out)}});
  }

  json document = experiment.resolved;
  document["name"] =
      experiment.name.substr(0, kLongestTitle - std::string(kTitleEnd).size()) + kTitleEnd;
  document["baseline"] = baseline.name;
  document["variants"] = json::array(
      {arm_document(experiment, baseline.name), arm_document(experiment, candidate.name)});
  for (const json& arm : arms.added()) document["variants"].push_back(arm);
  document["measure"]["repeats"] = choice.repeats;
  document["ablation"] = std::move(section);
  Overrides overrides;
  overrides.resumed = choice.resumed;
  return parse_experiment(document.dump(), origin, "/", overrides, ask);
}

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& what, const std::string& origin, JsonPath path) {
  throw Error(ExitCode::usage, what, json_place(origin, path),
              "an axis is an object of names and what each changes in the variant");
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
    refuse(fmt::format("found a matrix of {} variants, expected at most {}", all.size(), kMostArms),
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
    refuse("found no name before it, with which its variants' names begin", origin, path);
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
  if (!document.is_object() || !document.contains("variants") || !document["variants"].is_array())
    return;
  json all = json::array();
  const json& given = document["variants"];
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].is_object() || !given[i].contains("matrix")) {
      all.push_back(given[i]);
      continue;
    }
    for (json& arm : arms_of(given[i], origin, {"variants", std::to_string(i)}))
      all.push_back(std::move(arm));
  }
  document["variants"] = std::move(all);
}

}  // namespace memduel
