// What a gate says about one role of one variant. Nothing decides it again: exit code, reports and
// exports read the GateResult.
//
// A bound relative to the baseline passes when the one-sided confidence limit of the change stays
// within it. It fails in two ways: the worsening is shown to be beyond the bound (the limit on the
// other side is), or it is real (corrected p at most alpha) and estimated beyond the bound; strict
// gates fail in the first way alone. A ceiling needs no baseline: it fails with the first trial
// above it. Anything else is undecided. A candidate that failed where the baseline lived fails its
// gates. Of several bounds one is enough. A bound on growth passes for a candidate whose memory is
// bounded and fails only for one that grows: to shrink less than the baseline is no growth.
#pragma once

#include <string>
#include <vector>

#include "analysis/growth/growth.h"
#include "analysis/values/results.h"
#include "analysis/verdicts/analyse.h"
#include "analysis/verdicts/comparison.h"
#include "analysis/verdicts/doubts.h"
#include "analysis/verdicts/gate_grammar.h"

namespace memduel {

/// One role of one variant, as a gate judges it.
struct GateSubject {
  std::string candidate;
  std::string role;
  std::vector<double> values;        ///< of the variant's trials that ended well
  int failed = 0;                    ///< trials of the variant that did not
  std::string failure;               ///< of the first of them
  const MeasuredRow* row = nullptr;  ///< against the baseline; null where nothing is compared
  const Growth* growth = nullptr;    ///< the variant's own, of a growth metric
  std::string why_no_row;            ///< why nothing is compared, after "not measured: "
  bool is_whole_run = false;         ///< a watched job: its one trial is all there is to judge
};

/// The candidate of a row, decided (verdict.h).
GateSubject subject_of(const MeasuredRow& row, const Growth* growth = nullptr);

struct GateRules {
  double alpha = 0.05;
  bool strict = false;
  OnInconclusive on_inconclusive = OnInconclusive::beyond;
  Doubts doubts = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// `gate.role` is not read: the subject's is the one that is judged.
GateResult evaluate_gate(const Gate& gate, const GateSubject& subject, const GateRules& rules = {});

/// A gate that nothing measured, with the reason after "not measured: ".
GateResult unmeasured_gate(const Gate& gate, const std::string& candidate, const std::string& why);

}  // namespace memduel
