// Every gate with its outcome and reason, as a table and for formats that list checks.

#include <fmt/format.h>

#include <algorithm>

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
  const std::string of = quantity(model.results.job, gate.role, gate.metric);
  for (const Cause& cause : model.causes) {
    const std::size_t colon = cause.location.rfind(':');
    if (!cause.more || colon == std::string::npos || cause.location.starts_with('<') ||
        !cause.of.starts_with(of))
      continue;
    check.file = cause.location.substr(0, colon);
    check.line = std::atoi(cause.location.c_str() + colon + 1);
    return;
  }
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
  return section;
}

}  // namespace memduel
