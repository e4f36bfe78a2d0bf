// Which candidate of a run's results is best.

#include "verdict/results.h"

#include <algorithm>
#include <cmath>

#include "model/metric_catalogue.h"

namespace memduel {
namespace {

double effect_of(const Comparison& c) {
  return c.ratio ? std::log(std::max(*c.ratio, 1e-300)) : c.difference.value_or(0);
}

}  // namespace

std::set<std::string> failed_candidates(const Results& results) {
  std::set<std::string> failed;
  for (const GateResult& gate : results.gates)
    if (gate.fails()) failed.insert(gate.candidate);
  return failed;
}

std::vector<const Comparison*> ranked_rows(const Results& results, const Comparison& like) {
  const std::set<std::string> failed = failed_candidates(results);
  std::vector<const Comparison*> rows;
  for (const Comparison& c : results.comparisons)
    if (c.is_asked() && c.role == like.role && c.metric == like.metric && (c.ratio || c.difference))
      rows.push_back(&c);
  const bool more = metric_info(results.job, like.metric).better == Direction::higher;
  const double sign = more ? -1 : 1;
  std::ranges::stable_sort(rows, [&](const Comparison* a, const Comparison* b) {
    const bool a_failed = failed.contains(a->candidate);
    const bool b_failed = failed.contains(b->candidate);
    if (a_failed != b_failed) return b_failed;
    return sign * effect_of(*a) < sign * effect_of(*b);
  });
  return rows;
}

const Comparison* first_gate_row(const Results& results) {
  const auto row =
      std::ranges::find_if(results.comparisons, [](const Comparison& c) { return c.is_asked(); });
  return row == results.comparisons.end() ? nullptr : &*row;
}

bool told_apart(const Comparison& best, const Comparison& other) {
  if (!best.ci_low || !best.ci_high || !other.ci_low || !other.ci_high) return false;
  return *best.ci_high < *other.ci_low || *other.ci_high < *best.ci_low;
}

std::vector<std::string> ranked_candidates(const Results& results) {
  std::vector<std::string> ranked;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(ranked, name) == ranked.end()) ranked.push_back(name);
  };
  if (const Comparison* first = first_gate_row(results))
    for (const Comparison* row : ranked_rows(results, *first)) add(row->candidate);
  for (const ArmSummary& arm : results.arms)
    if (arm.name != results.baseline) add(arm.name);
  const std::set<std::string> failed = failed_candidates(results);
  std::ranges::stable_partition(ranked,
                                [&](const std::string& name) { return !failed.contains(name); });
  return ranked;
}

std::size_t CandidateOrder::rank(const std::string& candidate) const {
  return static_cast<std::size_t>(std::ranges::find(ranked_, candidate) - ranked_.begin());
}

}  // namespace memduel
