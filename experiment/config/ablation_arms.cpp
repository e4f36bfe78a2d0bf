#include "experiment/config/ablation_arms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "experiment/config/config.h"

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

/// In the order of the catalog; after the optimizations the variables, then the allocator.
std::vector<Switch> differences(const Variant& a, const Variant& b, const Catalog& catalog) {
  std::vector<Switch> found;
  for (const Optimization& one : catalog.optimizations) {
    const auto of_a = a.optimizations.find(one.name);
    if (of_a != a.optimizations.end() && *of_a != b.optimizations.at(one.name))
      found.push_back({one.name});
  }
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

/// Why flipping the switch in `variant` changes nothing; absent where it may.
std::optional<std::string> why_idle(const Switch& one, const Variant& variant, const json& workload,
                                    const Catalog& catalog) {
  for (const Optimization& other : catalog.optimizations) {
    if (one.kind != Switch::Kind::optimization || other.name != one.name) continue;
    const auto unmet = find_unmet(other.matters_with, {variant.optimizations, workload});
    if (unmet) return fmt::format("needs {}", unmet->needed);
  }
  return std::nullopt;
}

/// Why `variant` does not run; absent where it does.
std::optional<std::string> why_refused(const Variant& variant, const json& workload,
                                       const Catalog& catalog) {
  const auto clash = find_clash(catalog, {variant.optimizations, workload});
  if (!clash) return std::nullopt;
  return fmt::format("{} needs {}", clash->chosen, clash->unmet.needed);
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
    json arm = {{"name", new_name}, {"optimizations", variant.optimizations}, {"env", variant.env}};
    if (variant.allocator) arm["allocator"] = memduel::name_of(*variant.allocator);
    added_.push_back(std::move(arm));
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
  throw Error(ExitCode::usage, "found no arm beside the baseline to take apart", "arms");
}

json arm_document(const Experiment& experiment, const std::string& name) {
  for (const json& arm : experiment.resolved.at("arms"))
    if (arm.at("name") == name) return arm;
  return {};
}

/// One switch of the section: which arm measures it, or why none does.
json section_entry(const Switch& one, const Arm& baseline, const Arm& candidate,
                   const json& workload, const Catalog& catalog, Arms& arms) {
  const Variant a = variant_of(baseline);
  const Variant b = variant_of(candidate);
  const auto cell = [&](const Variant& around, const Variant& value_from, const std::string& name) {
    const Variant flipped = with(around, one, value_from);
    if (const auto idle = why_idle(one, around, workload, catalog)) return json{{"idle", *idle}};
    if (const auto refused = why_refused(flipped, workload, catalog))
      return json{{"refused", *refused}};
    return json{{"arm", arms.name_of(flipped, name)}};
  };
  return {{"name", one.name},
          {"added_alone", cell(a, b, arm_name(baseline.name, '+', one.name))},
          {"left_out", cell(b, a, arm_name(candidate.name, '-', one.name))}};
}

}  // namespace

Experiment ablation_experiment(const Experiment& experiment, const AblationChoice& choice,
                               const AskProvider& ask) {
  const auto& expansion = experiment.expansion;
  if (!expansion)
    throw Error(ExitCode::usage, "a command workload has no switches to take apart",
                experiment.name, "a provider can give it some: docs/providers.md");
  const Catalog& catalog = expansion->catalog;
  const json& workload = expansion->workload;
  const Arm& baseline =
      named_arm(experiment, choice.baseline.value_or(experiment.baseline), "--baseline");
  const Arm& candidate = choice.candidate ? named_arm(experiment, *choice.candidate, "--candidate")
                                          : last_arm_beside(experiment, baseline.name);
  const auto switches = differences(variant_of(baseline), variant_of(candidate), catalog);
  if (switches.empty())
    throw Error(ExitCode::usage,
                fmt::format("the arms \"{}\" and \"{}\" differ in no switch", baseline.name,
                            candidate.name),
                experiment.name, "name two others with --baseline and --candidate");

  Arms arms(baseline, candidate);
  json section = {{"candidate", candidate.name}, {"switches", json::array()}};
  for (const Switch& one : switches)
    section["switches"].push_back(section_entry(one, baseline, candidate, workload, catalog, arms));

  json document = experiment.resolved;
  document["name"] =
      experiment.name.substr(0, kLongestTitle - std::string(kTitleEnd).size()) + kTitleEnd;
  document["baseline"] = baseline.name;
  document["arms"] = json::array(
      {arm_document(experiment, baseline.name), arm_document(experiment, candidate.name)});
  for (const json& arm : arms.added()) document["arms"].push_back(arm);
  document["measure"]["repeats"] = choice.repeats;
  document["ablation"] = std::move(section);
  Overrides overrides;
  overrides.resumed = choice.resumed;
  return parse_experiment(document.dump(), "ablation of " + experiment.name, "/", overrides, ask);
}

}  // namespace memduel
