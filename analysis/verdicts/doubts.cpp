#include "analysis/verdicts/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/verdicts/comparison_rows.h"

namespace memduel {
namespace {

bool flagged(const Comparison& row) {
  return row.verdict == Verdict::improved || row.verdict == Verdict::regressed;
}

}  // namespace

const Growth* growth_of(const std::vector<Growth>& growth, const std::string& arm,
                        const std::string& role, const std::string& metric) {
  const auto at = std::ranges::find_if(growth, [&](const Growth& one) {
    return one.arm == arm && one.role == role && one.metric == metric;
  });
  return at == growth.end() ? nullptr : &*at;
}

std::optional<Note> flagged_control(const std::vector<MeasuredRow>& rows,
                                    const std::set<std::string>& controls,
                                    const std::vector<Gate>& gates) {
  for (const MeasuredRow& row : rows) {
    const Comparison& out = row.comparison;
    if (!controls.contains(out.candidate) || !flagged(out)) continue;
    if (!is_gate_row(gates, out.role, out.metric)) continue;
    return Note{"control_flagged",
                fmt::format("the run's own control differs from the baseline ({}.{}: {}), so no "
                            "verdict of this run is believed",
                            out.role, out.metric, out.reason),
                "look for what changed during the run, then repeat it on a quieter machine"};
  }
  return std::nullopt;
}

std::string Doubts::explain(std::string reason) const {
  if (!pending.empty()) return pending;
  for (const std::string& doubt : reasons) reason = doubt + "; without that: " + reason;
  return reason;
}

}  // namespace memduel
