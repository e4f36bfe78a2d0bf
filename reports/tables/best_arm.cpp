#include "reports/tables/best_arm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/values/ranked_candidates.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

using RankedRows = std::vector<const Comparison*>;

/// Empty where nothing is known of any candidate.
std::string of_metric(const JobFacts& job, const RankedRows& rows) {
  if (std::ranges::all_of(rows,
                          [](const auto* row) { return row->verdict == Verdict::inconclusive; }))
    return {};
  const Comparison& best = *rows.front();
  const std::string what = quantity(job, best.role, best.metric);
  if (std::ranges::all_of(rows, [](const auto* row) { return row->verdict == Verdict::unchanged; }))
    return what + ": all have the SAME";
  std::string text = fmt::format("{}: {} {}", what, best.candidate, decided_words(best));
  for (std::size_t i = 1; i < rows.size(); ++i)
    text += fmt::format(", {} {}", rows[i]->candidate, decided_words(*rows[i]));
  if (!told_apart(best, *rows[1]))
    text += fmt::format(" ({} and {} are not told apart)", best.candidate, rows[1]->candidate);
  return text;
}

}  // namespace

Sentence best_sentence(const Results& results) {
  const Comparison* first = first_gate_row(results);
  if (first == nullptr) return {};
  const RankedRows rows = ranked_rows(results, *first);
  if (rows.size() < 2 || !results.overall.best) return {};
  Sentence sentence;
  sentence.add(fmt::format("Best of {} candidates: {}.", rows.size(), *results.overall.best),
               Mark::strong);
  std::vector<std::string> parts;
  std::set<std::pair<std::string, std::string>> told;
  for (const Comparison& c : results.comparisons) {
    if (!c.is_asked() || !told.emplace(c.role, c.metric).second) continue;
    const RankedRows of_row = ranked_rows(results, c);
    if (of_row.size() < 2) continue;
    if (const std::string one = of_metric(results.job, of_row); !one.empty()) parts.push_back(one);
  }
  parts.push_back("each against " + results.baseline);
  return sentence.add(fmt::format(" {}.", fmt::join(parts, "; ")));
}

}  // namespace memduel
