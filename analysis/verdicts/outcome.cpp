// What a run's results mean for the driver and for the exit code.
#include <algorithm>

#include "analysis/verdicts/analyse.h"

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

std::vector<std::string> arms_to_explain(const Results& results) {
  std::vector<std::string> arms;
  for (const GateResult& gate : results.gates) {
    if (gate.outcome != GateOutcome::failed || !decides(gate)) continue;
    if (arms.empty()) arms.push_back(results.baseline);
    if (std::ranges::find(arms, gate.candidate) == arms.end()) arms.push_back(gate.candidate);
  }
  return arms;
}

ExitCode gates_exit_code(const Results& results, bool fail_on_undecided) {
  const auto any = [&](auto holds) {
    return std::ranges::any_of(
        results.gates, [&](const GateResult& gate) { return decides(gate) && holds(gate); });
  };
  if (any([](const GateResult& gate) { return gate.outcome == GateOutcome::failed; })) {
    return ExitCode::gate_failed;
  }
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
