#include "sections/open_row.h"

#include <algorithm>

#include "model/metric_catalogue.h"
#include "sections/result_rows.h"
#include "sections/sections.h"

namespace memduel {

const GateResult* gate_on(const Results& results, const Comparison& row, GateOutcome outcome) {
  const auto found = std::ranges::find_if(results.gates, [&](const GateResult& gate) {
    return gate.asks_about(row) && gate.outcome == outcome && !gate.advisory;
  });
  return found == results.gates.end() ? nullptr : &*found;
}

bool is_not_judged(const Results& results, const Comparison& row) {
  return row.verdict == Verdict::inconclusive && row.ci_low && row.ci_high &&
         metric_info(row.metric).unit == Unit::seconds &&
         std::ranges::find(results.warnings, "not_interleaved", &Note::code) !=
             results.warnings.end();
}

const Comparison* open_row(const ReportModel& model, const std::string& candidate) {
  const bool has_gates = answer_of(model.results) != Answer::no_gates;
  for (const ResultRow& row : result_rows(model).rows)
    for (const Comparison* one : row.comparisons) {
      if (one == nullptr || one->candidate != candidate || one->metric == kRoundSeconds ||
          one->verdict != Verdict::inconclusive || one->is_of_dead())
        continue;
      const bool is_open = gate_on(model.results, *one, GateOutcome::inconclusive) != nullptr;
      if (!has_gates || is_open || one->metric == kPeakRss) return one;
    }
  return nullptr;
}

}  // namespace memduel
