#include "config/ablation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "config/config_json.h"
#include "config/experiment.h"
#include "config/read_document.h"
#include "model/keys.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr const char* kTitleEnd = "-ablation";  // so that its runs lie apart from the duel's

/// One thing in which the two arms differ.
struct Switch {
  enum class Kind { optimization, variable, allocator };
  std::string name;
  Kind kind = Kind::optimization;
};

/// What a provider makes a variant's processes of.
bool is_same(const Variant& a, const Variant& b) {
  return a.switches == b.switches && a.env == b.env && a.allocator == b.allocator;
}

/// What of a variant is its own in an ablation.
Variant named(const std::string& name, const Variant& variant) {
  Variant own;
  own.name = name;
  own.switches = variant.switches;
  own.env = variant.env;
  own.allocator = variant.allocator;
  return own;
}

/// `to` with the one switch as `from` has it.
Variant with(Variant to, const Switch& one, const Variant& from) {
  if (one.kind == Switch::Kind::optimization) {
    to.switches[one.name] = from.switches.at(one.name);
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
    const auto of_a = a.switches.find(one.name);
    if (of_a != a.switches.end() && *of_a != b.switches.at(one.name)) found.push_back({one.name});
  }
  for (Switch& one : differences_around(a, b)) found.push_back(std::move(one));
  return found;
}

/// A command has no switches; its arms may still be taken apart by hand.
[[noreturn]] void refuse_command(const Experiment& experiment, const Variant& baseline,
                                 const Variant& candidate) {
  std::vector<std::string> names;
  for (const Switch& one : differences_around(baseline, candidate)) names.push_back(one.name);
  throw Error(
      ExitCode::usage, "a command workload has no switches", experiment.config.name,
      names.empty()
          ? "a workload plug-in can define some: docs/providers.md"
          : fmt::format("\"{}\" and \"{}\" differ in {}: give each of them its own variant, which "
                        "is \"{}\" with that alone, and memduel run compares them all",
                        baseline.name, candidate.name, fmt::join(names, " and "), baseline.name));
}

/// "original+framing"; a name that would be too long loses the end of the arm's part.
std::string variant_name(const std::string& arm, char sign, const std::string& name) {
  std::string end = sign + name;
  for (char& c : end)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-' &&
        c != '+')
      c = '_';
  return arm.substr(0, kLongestVariantName - std::min(end.size(), kLongestVariantName - 1)) + end;
}

/// The variants of the ablation, none of them twice.
class AblationVariants {
 public:
  AblationVariants(const Variant& baseline, const Variant& candidate)
      : all_{named(baseline.name, baseline), named(candidate.name, candidate)} {}

  /// The name of the one that is as `variant`.
  std::string name_of(const Variant& variant) {
    for (const Variant& known : all_)
      if (is_same(known, variant)) return known.name;
    all_.push_back(variant);
    return variant.name;
  }

  /// Those beside the two.
  [[nodiscard]] std::span<const Variant> added() const { return std::span(all_).subspan(2); }

 private:
  std::vector<Variant> all_;
};

const Variant& named_variant(const Experiment& experiment, const std::string& name,
                             const char* option) {
  std::vector<std::string> names;
  for (const Variant& arm : experiment.variants) {
    if (arm.name == name) return arm;
    names.push_back(arm.name);
  }
  refuse_variant(name, names, option);
}

const Variant& last_variant_beside(const Experiment& experiment, const std::string& baseline) {
  for (auto arm = experiment.variants.rbegin(); arm != experiment.variants.rend(); ++arm)
    if (arm->name != baseline && !arm->twin_of) return *arm;
  throw Error(ExitCode::usage, "found no variant besides the baseline", "variants");
}

/// One switch flipped in one of the two variants, and why none measures that.
struct FlippedSwitch {
  Variant variant;
  PlannedCell why_not;  ///< empty where one does

  [[nodiscard]] bool is_measured() const { return !why_not.idle && !why_not.refused; }
};

FlippedSwitch flipped(const Switch& one, const Variant& around, char sign,
                      const Variant& value_from, const IdleSwitches& idle) {
  FlippedSwitch cell{
      with(named(variant_name(around.name, sign, one.name), around), one, value_from), {}};
  const auto found = idle.find(one.name);
  if (one.kind == Switch::Kind::optimization && found != idle.end())
    cell.why_not.idle = found->second;
  return cell;
}

/// Both cells of a switch.
struct FlippedPair {
  std::string name;
  FlippedSwitch added_alone;
  FlippedSwitch removed_alone;
};

/// What the provider says of the variants of an ablation.
struct Asked {
  const Experiment& experiment;
  const std::string& origin;
  const AskProvider& ask;

  std::vector<IdleSwitches> idle(const std::vector<Variant>& variants) const {
    return ask_about_variants(*experiment.expansion, experiment.config.workload.own, variants,
                              origin, ask);
  }
  /// Absent where it runs all of them.
  [[nodiscard]] std::optional<std::string> refusal(const std::vector<Variant>& variants) const {
    try {
      idle(variants);
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage) throw;
      return error.what();
    }
    return std::nullopt;
  }
};

/// Asks once where the provider runs all, else for each.
void mark_refused(std::vector<FlippedPair>& pairs, const Asked& asked) {
  std::vector<FlippedSwitch*> cells;
  std::vector<Variant> variants;
  for (FlippedPair& pair : pairs)
    for (FlippedSwitch* cell : {&pair.added_alone, &pair.removed_alone})
      if (cell->is_measured()) {
        cells.push_back(cell);
        variants.push_back(cell->variant);
      }
  if (!asked.refusal(variants)) return;
  for (FlippedSwitch* cell : cells) cell->why_not.refused = asked.refusal({cell->variant});
}

PlannedCell cell_of(const FlippedSwitch& flipped, AblationVariants& variants) {
  if (!flipped.is_measured()) return flipped.why_not;
  return {variants.name_of(flipped.variant), {}, {}};
}

}  // namespace

Experiment ablation_experiment(const Experiment& experiment, const AblationChoice& choice,
                               const AskProvider& ask) {
  const auto& expansion = experiment.expansion;
  const Variant& baseline =
      named_variant(experiment, choice.baseline.value_or(experiment.config.baseline), "--baseline");
  const Variant& candidate = choice.candidate
                                 ? named_variant(experiment, *choice.candidate, "--candidate")
                                 : last_variant_beside(experiment, baseline.name);
  if (!expansion) refuse_command(experiment, baseline, candidate);
  const auto switches = differences(baseline, candidate, expansion->catalog);
  if (switches.empty())
    throw Error(ExitCode::usage,
                fmt::format("the variants \"{}\" and \"{}\" have the same switches", baseline.name,
                            candidate.name),
                experiment.config.name, "choose two others with --baseline and --candidate");

  const std::string origin = "ablation of " + experiment.config.name;
  const Asked asked{experiment, origin, ask};
  const auto idle = asked.idle({named(baseline.name, baseline), named(candidate.name, candidate)});
  std::vector<FlippedPair> pairs;
  for (const Switch& one : switches)
    pairs.push_back({one.name, flipped(one, baseline, '+', candidate, idle[0]),
                     flipped(one, candidate, '-', baseline, idle[1])});
  mark_refused(pairs, asked);

  AblationVariants variants(baseline, candidate);
  AblationPlan section{candidate.name, {}};
  for (const FlippedPair& pair : pairs) {
    PlannedCell added_alone = cell_of(pair.added_alone, variants);
    section.switches.push_back(
        {pair.name, std::move(added_alone), cell_of(pair.removed_alone, variants)});
  }

  Document document = experiment.config;
  document.name =
      experiment.config.name.substr(0, kLongestTitle - std::string(kTitleEnd).size()) + kTitleEnd;
  document.baseline = baseline.name;
  const std::vector<Variant> own = std::move(document.variants);
  document.variants.clear();
  for (const std::string& name : {baseline.name, candidate.name})
    document.variants.push_back(*std::ranges::find(own, name, &Variant::name));
  document.variants.insert(document.variants.end(), variants.added().begin(),
                           variants.added().end());
  document.measure.repeats = choice.repeats;
  document.ablation = std::move(section);
  Overrides overrides;
  overrides.resumed = choice.resumed;
  return make_experiment(document, origin, "/", overrides, ask);
}

}  // namespace memduel
