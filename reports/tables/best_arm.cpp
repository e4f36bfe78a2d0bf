#include "reports/tables/best_arm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/values/metrics.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

using RankedRows = std::vector<const Comparison*>;

std::set<std::string> failed_candidates(const Results& results) {
  std::set<std::string> failed;
  for (const GateResult& gate : results.gates)
    if (gate.outcome == GateOutcome::failed && !gate.advisory) failed.insert(gate.candidate);
  return failed;
}

double effect_of(const Comparison& c) {
  return c.ratio ? std::log(std::max(*c.ratio, 1e-300)) : c.difference.value_or(0);
}

/// Rows of one role and metric, the best effect first; failed candidates last.
RankedRows ranked_rows(const Results& results, const Comparison& like) {
  const std::set<std::string> failed = failed_candidates(results);
  RankedRows rows;
  for (const Comparison& c : results.comparisons)
    if (c.gate && c.role == like.role && c.metric == like.metric && (c.ratio || c.difference))
      rows.push_back(&c);
  const double sign = metric_info(like.metric).lower_is_better ? 1 : -1;
  std::stable_sort(rows.begin(), rows.end(), [&](const Comparison* a, const Comparison* b) {
    const bool a_failed = failed.contains(a->candidate);
    const bool b_failed = failed.contains(b->candidate);
    if (a_failed != b_failed) return b_failed;
    return sign * effect_of(*a) < sign * effect_of(*b);
  });
  return rows;
}

const Comparison* first_gate_row(const Results& results) {
  const auto row = std::find_if(results.comparisons.begin(), results.comparisons.end(),
                                [](const Comparison& c) { return c.gate; });
  return row == results.comparisons.end() ? nullptr : &*row;
}

/// Whose intervals overlap cannot be told apart.
bool apart(const Comparison& best, const Comparison& other) {
  if (!best.ci_low || !best.ci_high || !other.ci_low || !other.ci_high) return false;
  return *best.ci_high < *other.ci_low || *other.ci_high < *best.ci_low;
}

std::string of_metric(const JobFacts& job, const RankedRows& rows) {
  const Comparison& best = *rows.front();
  std::string text = fmt::format("{}: {} has {}", quantity(job, best.role, best.metric),
                                 best.candidate, change_words(best));
  for (std::size_t i = 1; i < rows.size(); ++i)
    text += fmt::format(", {} {}", rows[i]->candidate, change_words(*rows[i]));
  if (!apart(best, *rows[1]))
    text += fmt::format(" ({} and {} are not told apart)", best.candidate, rows[1]->candidate);
  return text;
}

}  // namespace

std::vector<std::string> ranked_candidates(const Results& results) {
  std::vector<std::string> ranked;
  const auto add = [&](const std::string& name) {
    if (std::find(ranked.begin(), ranked.end(), name) == ranked.end()) ranked.push_back(name);
  };
  if (const Comparison* first = first_gate_row(results))
    for (const Comparison* row : ranked_rows(results, *first)) add(row->candidate);
  for (const ArmSummary& arm : results.arms)
    if (arm.name != results.baseline) add(arm.name);
  return ranked;
}

std::size_t CandidateOrder::rank(const std::string& candidate) const {
  return static_cast<std::size_t>(std::find(ranked_.begin(), ranked_.end(), candidate) -
                                  ranked_.begin());
}

std::string best_sentence(const Results& results) {
  const Comparison* first = first_gate_row(results);
  if (first == nullptr) return {};
  const RankedRows rows = ranked_rows(results, *first);
  if (rows.size() < 2 || rows.front()->verdict != Verdict::improved) return {};
  const std::string best = rows.front()->candidate;
  const std::set<std::string> failed = failed_candidates(results);
  if (failed.contains(best)) return {};
  std::string text = fmt::format("Best of {} candidates: {}. ", rows.size(), best);
  std::set<std::pair<std::string, std::string>> told;
  for (const Comparison& c : results.comparisons) {
    if (!c.gate || !told.emplace(c.role, c.metric).second) continue;
    const RankedRows of_row = ranked_rows(results, c);
    if (of_row.size() > 1) text += (told.size() > 1 ? "; " : "") + of_metric(results.job, of_row);
  }
  text += fmt::format("; each against {}", results.baseline);
  for (const std::string& name : failed) text += fmt::format("; {} failed a gate", name);
  return text + ".";
}

}  // namespace memduel
