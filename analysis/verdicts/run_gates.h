// All gates of a run, each on every variant and role that it judges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/growth/observations.h"
#include "analysis/values/experiment_view.h"
#include "analysis/verdicts/gate_evaluation.h"

namespace memduel {

struct RunGates {
  const RunData& run;
  const ExperimentView& view;
  const Observations& observations;
  const std::vector<Gate>& gates;
  const std::vector<std::string>& roles;
  const std::vector<MeasuredRow>& rows;  ///< decided
  const std::vector<Growth>& growth;
  GateRules rules;
  bool default_gates_decide = true;
  bool default_gates_are_named = false;  ///< by the word "default": one has to be judged
};

struct JudgedGates {
  std::vector<GateResult> results;
  std::vector<Note> limitations;  ///< default gates that nothing measured
};

/// A gate that names a role or a metric which nothing measured is a result, too; of `*` each role
/// that has the metric is one. Where a run has one variant, that one is judged.
JudgedGates judge_gates(const RunGates& all);

/// The variants that gates judge: every candidate that is no control and takes none apart, or the
/// only variant.
std::vector<std::string> judged_variants(const ExperimentView& view);

/// Throws Error(usage) for a gate that no run of this kind can judge: a bound relative to a
/// baseline where one variant is alone, and one on times of two runs that were not interleaved,
/// which get no verdict.
void refuse_unjudgeable(const std::vector<Gate>& gates, bool is_alone, bool is_interleaved);

}  // namespace memduel
