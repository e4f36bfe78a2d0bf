// What a run's results mean for the driver and for the exit code.
#include <algorithm>

#include "analysis/verdicts/analyse.h"
#include "base/metric_catalogue.h"

namespace memduel {
namespace {

bool decides(const GateResult& gate) {
  return !gate.advisory;
}

}  // namespace

bool settled(const Results& results) {
  if (results.gates.empty()) return false;
  const bool gates_decided = std::ranges::all_of(results.gates, [](const GateResult& gate) {
    return !decides(gate) || (gate.outcome != GateOutcome::undecided && !gate.not_measured);
  });
  const bool rows_decided = std::ranges::all_of(results.comparisons, [](const Comparison& row) {
    return !row.gate || row.verdict != Verdict::inconclusive;
  });
  return gates_decided && rows_decided;
}

bool gate_failed(const Results& results) {
  return std::ranges::any_of(results.gates, [](const GateResult& gate) {
    return decides(gate) && gate.outcome == GateOutcome::failed;
  });
}

std::vector<std::string> arms_to_explain(const Results& results) {
  std::vector<std::string> arms;
  const auto add = [&](const std::string& candidate) {
    if (arms.empty()) arms.push_back(results.baseline);
    if (std::ranges::find(arms, candidate) == arms.end()) arms.push_back(candidate);
  };
  for (const GateResult& gate : results.gates)
    if (decides(gate) && gate.outcome == GateOutcome::failed) add(gate.candidate);
  for (const Comparison& row : results.comparisons)
    if (row.is_asked() && row.verdict == Verdict::improved &&
        metric_info(row.metric).unit != Unit::seconds)
      add(row.candidate);
  return arms;
}

ExitCode gates_exit_code(const Results& results, bool fail_on_undecided) {
  const auto any = [&](auto holds) {
    return std::ranges::any_of(
        results.gates, [&](const GateResult& gate) { return decides(gate) && holds(gate); });
  };
  if (gate_failed(results)) return ExitCode::gate_failed;
  if (any([](const GateResult& gate) { return gate.not_measured; })) {
    return ExitCode::cannot_measure;
  }
  const bool undecided =
      any([](const GateResult& gate) { return gate.outcome == GateOutcome::undecided; });
  return undecided && fail_on_undecided ? ExitCode::undecided : ExitCode::ok;
}

RunData only_blocks(RunData run, int first, int last) {
  std::erase_if(run.trials, [&](const TrialData& trial) {
    return trial.kind == TrialKind::measure && (trial.block < first || trial.block > last);
  });
  return run;
}

}  // namespace memduel
