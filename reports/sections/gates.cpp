// Every gate with its outcome and reason, as a table and for formats that list checks.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sections/sections.h"
#include "words.h"

namespace memduel {
namespace {

Tone tone_of_outcome(const GateResult& gate) {
  if (gate.advisory || gate.outcome == GateOutcome::inconclusive) return Tone::muted;
  return gate.outcome == GateOutcome::passed ? Tone::good : Tone::bad;
}

Check::Status status_of(const GateResult& gate) {
  if (gate.not_measured) return Check::Status::not_measured;
  switch (gate.outcome) {
    case GateOutcome::passed:
      return Check::Status::passed;
    case GateOutcome::failed:
      return Check::Status::failed;
    case GateOutcome::inconclusive:
      break;
  }
  return Check::Status::inconclusive;
}

/// Where the largest increase of a failed gate's row comes from: "train.py:12".
void locate(const ReportModel& model, const GateResult& gate, Check& check) {
  if (gate.outcome != GateOutcome::failed || gate.candidate_failed) return;
  // A cause of two rows is listed once, so that the other row's causes count if there is no other.
  for (const bool is_own : {true, false})
    for (const Cause& cause : model.causes) {
      const std::size_t colon = cause.location.rfind(':');
      if (!cause.more || colon == std::string::npos || cause.location.starts_with('<') ||
          cause.candidate != gate.candidate || cause.row_role != gate.role ||
          (cause.metric == gate.metric) != is_own)
        continue;
      check.file = cause.location.substr(0, colon);
      check.line = std::atoi(cause.location.c_str() + colon + 1);
      return;
    }
}

/// "+5.7% instead of +6.2% for all.peak_rss_bytes<=+2%": a gate whose reason gives another change
/// than the other tables; empty for others.
std::string other_change(const Results& results, const GateResult& gate) {
  const Comparison* row = results.row(gate.candidate, gate.role, gate.metric);
  const std::optional<double>& estimate = gate.evidence.estimate;
  if (row == nullptr || !estimate || gate.evidence.quantity == GateQuantity::value) return {};
  const std::optional<double> shown = shown_change(*row);
  if (!shown) return {};
  const auto words = [&](double change) {
    return row->ratio ? ratio_text(change) : signed_metric(row->metric, change);
  };
  if (words(*estimate) == words(*shown)) return {};
  return fmt::format("{} instead of {} for {}", words(*estimate), words(*shown), gate.name());
}

/// What the changes in the reasons are; empty if they are those of the medians.
std::string note_on_estimates(const Results& results) {
  std::vector<std::string> others;
  for (const GateResult& gate : results.gates)
    if (std::string other = other_change(results, gate);
        !other.empty() && std::ranges::find(others, other) == others.end())
      others.push_back(std::move(other));
  if (others.empty()) return {};
  return fmt::format(
      "Gates judge the Hodges–Lehmann estimate from all pairs of trials, which differs from the "
      "change of the medians: {}.",
      join_with_and(others));
}

}  // namespace

std::vector<Check> checks_of(const ReportModel& model) {
  std::vector<Check> checks;
  for (const GateResult& gate : model.results.gates) {
    Check check{gate.candidate, gate.name(),    status_of(gate),
                gate.advisory,  gate.exit_code, gate.reason};
    locate(model, gate, check);
    checks.push_back(std::move(check));
  }
  if (is_told_by_no_gate(model.results))
    checks.push_back({"", "measurement", Check::Status::not_measured, false,
                      model.results.overall.exit_code, model.results.overall.nothing});
  return checks;
}

Section gates_section(const ReportModel& model) {
  Section section{"gates", "Gates", {}};
  if (model.results.gates.empty()) return section;
  Table table;
  table.columns = {{"gate"}, {"variant"}, {"outcome"}, {"reason"}};
  for (const GateResult& gate : model.results.gates) {
    Row row;
    row.key = gate.candidate + " " + gate.name();
    row.cells = {Cell(gate.name(), Tone::code), Cell(gate.candidate),
                 Cell(std::string(gate.word()) + (gate.advisory ? " (advisory)" : ""),
                      tone_of_outcome(gate)),
                 Cell(with_minus(gate.reason))};
    table.rows.push_back(std::move(row));
  }
  section.add(std::move(table));
  if (std::string note = note_on_estimates(model.results); !note.empty())
    section.add(Paragraph{Text(std::move(note), Tone::muted)});
  return section;
}

}  // namespace memduel
