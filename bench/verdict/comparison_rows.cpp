#include "comparison_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "model/metric_catalogue.h"
#include "stats/hypothesis_tests.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

bool is_named(const std::vector<Gate>& gates, const std::string& role) {
  return std::ranges::any_of(gates, [&](const Gate& gate) { return gate.role == role; });
}

std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& out) {
  std::set<std::string> rest;
  std::set_difference(all.begin(), all.end(), out.begin(), out.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

void note_one_sided(std::vector<Note>& notes, const std::string& role,
                    const std::set<std::string>& metrics, const std::string& has,
                    const std::string& lacks) {
  if (metrics.empty()) return;
  notes.push_back(
      {"metric_in_one_variant_only",
       fmt::format("{} was measured for {} in arm {} but not in arm {}, so it is not compared",
                   fmt::join(metrics, ", "), role, has, lacks),
       "give both the same meters and gauges; what is read once a second, such as PSS, is missing "
       "in "
       "short trials"});
}

const GrowthEstimate* growth_estimate(const std::vector<GrowthRow>& growth, const std::string& arm,
                                      const std::string& role, const std::string& metric) {
  const auto at = std::ranges::find_if(growth, [&](const GrowthRow& one) {
    return one.row.arm == arm && one.row.role == role && one.row.metric == metric;
  });
  return at == growth.end() ? nullptr : &at->estimate;
}

bool is_control_gate(const MeasuredRow& row, const RowRules& rules) {
  return rules.view.control_arms.contains(row.comparison.candidate) &&
         is_gate_row(rules.gates, row.comparison.role, row.comparison.metric);
}

using Family = std::vector<MeasuredRow*>;

/// Those with a p-value.
template <typename Belongs>
Family tested(std::vector<MeasuredRow>& rows, Belongs belongs) {
  Family family;
  for (MeasuredRow& row : rows)
    if (belongs(row) && row.comparison.p_value) family.push_back(&row);
  return family;
}

void adjust(const Family& family, std::vector<double> (*by)(std::span<const double>),
            const char* name, double factor = 1) {
  std::vector<double> p;
  for (const MeasuredRow* row : family) p.push_back(*row->comparison.p_value);
  const std::vector<double> adjusted = by(p);
  for (size_t i = 0; i < family.size(); ++i) {
    family[i]->comparison.p_adjusted = std::min(1.0, factor * adjusted[i]);
    family[i]->comparison.correction = name;
  }
}

void adjust_together(const Family& family, double factor) {
  if (family.empty()) return;
  std::vector<SwappedTest> tests;
  for (const MeasuredRow* row : family)
    tests.push_back({row->test->swaps()->ranks_at(0), *row->comparison.p_value});
  const std::vector<double> adjusted =
      westfall_young(family.front()->test->swaps()->values(), tests);
  for (size_t i = 0; i < family.size(); ++i) {
    family[i]->comparison.p_adjusted = std::min(1.0, factor * adjusted[i]);
    family[i]->comparison.correction = kWestfallYoung;
  }
}

/// Of the gate rows of one candidate, those whose labels are swapped in the same ways: all that
/// lack no trial.
Family with_same_swaps(const Family& family) {
  const auto swaps_of = [](const MeasuredRow* row) {
    return row->test ? row->test->swaps() : nullptr;
  };
  const SwapTest* most = nullptr;
  for (const MeasuredRow* row : family) {
    const SwapTest* own = swaps_of(row);
    if (own != nullptr &&
        (most == nullptr || own->values().values.size() > most->values().values.size()))
      most = own;
  }
  Family same;
  for (MeasuredRow* row : family)
    if (const SwapTest* own = swaps_of(row);
        own != nullptr && own->values().swaps == most->values().swaps)
      same.push_back(row);
  return same;
}

/// The level is shared in equal parts by all candidates, and within one by all of its gates.
void adjust_gates(const Family& gates) {
  std::map<std::string, Family> by_candidate;
  for (MeasuredRow* row : gates) by_candidate[row->comparison.candidate].push_back(row);
  for (const auto& [candidate, family] : by_candidate) {
    const Family together = with_same_swaps(family);
    Family others;
    for (MeasuredRow* row : family)
      if (std::ranges::find(together, row) == together.end()) others.push_back(row);
    const auto share = static_cast<double>(by_candidate.size() * family.size());
    if (!together.empty()) adjust_together(together, share / static_cast<double>(together.size()));
    if (!others.empty()) adjust(others, holm, kHolm, share / static_cast<double>(others.size()));
  }
}

/// After the p-values are adjusted. @param tests that share the level.
template <typename Belongs>
void decide_family(std::vector<MeasuredRow>& rows, const RowRules& rules, size_t tests,
                   const Doubts& doubts, Belongs belongs) {
  for (MeasuredRow& row : rows) {
    if (!belongs(row)) continue;
    const bool control = rules.view.control_arms.contains(row.comparison.candidate);
    decide(row, rules.alpha, static_cast<int>(tests), control ? Doubts() : doubts);
    // Advisory rows are sized as if they stood alone: their correction depends on all the others.
    const int sharing = row.comparison.gate ? static_cast<int>(tests) : 1;
    if (doubts.pending.empty())
      add_power(row, rules.settings.design, rules.alpha, sharing, rules.settings.seed);
  }
}

bool asks_for_change(const Gate& gate, const std::string& role, const std::string& metric) {
  return asks_about(gate, role, metric) && has_relative_bound(gate);
}

}  // namespace

bool is_gate_row(const std::vector<Gate>& gates, const std::string& role,
                 const std::string& metric) {
  return std::ranges::any_of(gates, [&](const Gate& gate) {
    return !gate.advisory && asks_for_change(gate, role, metric);
  });
}

std::vector<std::string> roles_to_compare(const RunData& run, const std::vector<Gate>& gates) {
  std::vector<std::string> roles;
  std::set<std::string> members;
  bool tree = false;
  for (const TrialData& trial : run.trials) {
    for (const RoleData& role : trial.roles) {
      const bool member = is_member(run.job, role.role);
      if (member) members.insert(role.role);
      tree = tree || role.role == kTree;
      const bool shown = role.role != kTree && (!member || is_named(gates, role.role));
      if (shown && std::ranges::find(roles, role.role) == roles.end()) {
        roles.push_back(role.role);
      }
    }
  }
  for (const RoleGroup& group : run.job.groups) {
    const bool seen =
        std::ranges::any_of(members, [&](const std::string& role) { return group.has(role); });
    if (seen) roles.insert(roles.end(), {group.largest(), group.median()});
  }
  if (tree) roles.emplace_back(kTree);
  return roles;
}

std::set<std::string> metrics_of(const ArmObservations& arm, const std::string& role) {
  std::set<std::string> metrics;
  for (const Observation& trial : arm.trials) {
    const auto at = trial.roles.find(role);
    if (at == trial.roles.end()) continue;
    for (const auto& [metric, value] : at->second) metrics.insert(metric);
  }
  return metrics;
}

MeasuredRows measure_rows(const RowRules& rules, const ArmObservations& baseline,
                          const ArmObservations& candidate) {
  MeasuredRows measured;
  const Design design = rules.settings.design;
  const bool control = rules.view.control_arms.contains(candidate.arm);
  for (const std::string& role : rules.roles) {
    const std::set<std::string> of_a = metrics_of(baseline, role);
    const std::set<std::string> of_b = metrics_of(candidate, role);
    const std::set<std::string> only_a = without(of_a, of_b);
    // A candidate that never lived has no metrics, and is worse in all of them.
    const bool compare_all = !any_alive(candidate);
    for (const std::string& metric : compare_all ? of_a : without(of_a, only_a)) {
      const MetricInfo info = metric_info(rules.job, metric);
      const bool gate = !control && is_gate_row(rules.gates, role, metric);
      const std::optional<double> noise = noise_floor(rules.settings.calibration, {role, metric});
      MeasuredRow row =
          measure_row(info, row_values(baseline, candidate, role, info, design, rules.order),
                      design, noise, gate ? rules.gate_rows : 1);
      row.least_trials = std::max(row.least_trials, rules.least_trials);
      row.comparison.baseline = baseline.arm;
      row.comparison.candidate = candidate.arm;
      row.comparison.role = role;
      row.comparison.gate = gate;
      row.comparison.advisory_gate =
          !control && !gate && std::ranges::any_of(rules.gates, [&](const Gate& one) {
            return asks_for_change(one, role, metric);
          });
      if (gate && row.test && !row.values.placed.empty())
        row.spread_p = spread_p(row.values.placed);
      const GrowthEstimate* of_baseline = growth_estimate(rules.growth, baseline.arm, role, metric);
      const GrowthEstimate* of_candidate =
          growth_estimate(rules.growth, candidate.arm, role, metric);
      if (of_baseline != nullptr && of_candidate != nullptr)
        take_growth(row, *of_baseline, *of_candidate, noise);
      measured.rows.push_back(std::move(row));
    }
    if (!compare_all)
      note_one_sided(measured.limitations, role, only_a, baseline.arm, candidate.arm);
    if (any_alive(baseline))
      note_one_sided(measured.limitations, role, without(of_b, of_a), candidate.arm, baseline.arm);
  }
  return measured;
}

void decide_controls(std::vector<MeasuredRow>& rows, const RowRules& rules) {
  const auto is_control = [&](const MeasuredRow& row) { return is_control_gate(row, rules); };
  const Family family = tested(rows, is_control);
  adjust(family, holm, kHolm);
  decide_family(rows, rules, family.size(), {}, is_control);
}

void decide_rows(std::vector<MeasuredRow>& rows, const RowRules& rules, const Doubts& doubts) {
  const auto is_gate = [](const MeasuredRow& row) { return row.comparison.gate; };
  const auto is_advisory = [&](const MeasuredRow& row) {
    return !row.comparison.gate && !is_control_gate(row, rules);
  };
  const Family gates = tested(rows, is_gate);
  if (has_places(rules.settings.design))
    adjust_gates(gates);
  else
    adjust(gates, holm, kHolm);
  decide_family(rows, rules, gates.size(), doubts, is_gate);
  const Family advisory = tested(rows, is_advisory);
  adjust(advisory, benjamini_hochberg, kBenjaminiHochberg);
  decide_family(rows, rules, advisory.size(), doubts, is_advisory);
}

void put_in_telling_order(std::vector<Comparison>& rows) {
  const auto rank_of = [](const Comparison& row) {
    const bool changed = row.is_change();
    if (row.exact && changed) return 0;
    return row.gate ? 1 : row.is_asked() ? 2 : 3;
  };
  std::map<std::string, std::size_t> candidates;
  for (const Comparison& row : rows) candidates.emplace(row.candidate, candidates.size());
  std::ranges::stable_sort(rows, [&](const Comparison& a, const Comparison& b) {
    return std::pair(candidates.at(a.candidate), rank_of(a)) <
           std::pair(candidates.at(b.candidate), rank_of(b));
  });
}

}  // namespace memduel
