// Which switch matters: every switch added alone to the baseline and left out of the candidate,
// each an arm that was measured, never a derived number.
//
// A cell compares its arm with its reference (the baseline for "added alone", the candidate for
// "left out") as a row of a comparison is compared: Hodges-Lehmann effect, interval and verdict
// from the test of shift_test.h. The cells are advisory: their p-values are corrected by Benjamini
// and Hochberg, those of whole trials in one family and those of phases in another, and never enter
// the correction of the gates.
//
// Interaction: when switches did not influence each other, the effects of all of them added alone
// would add up to the effect of the whole, and so would the effects that they have beside all the
// others (candidate minus left out). The remainder is what is left over, its interval that of the
// sums of each block's trials.
#pragma once

#include <string>
#include <vector>

#include "analysis/growth/observations.h"
#include "analysis/values/experiment_view.h"
#include "analysis/values/results.h"
#include "analysis/verdicts/analyse.h"
#include "base/run_data.h"

namespace memduel {

struct Ablation {
  std::vector<AblationRow> rows;      ///< by role, metric and phase; largest effect first
  std::vector<AblationTotal> totals;  ///< one for each role, metric and phase of `rows`
  std::vector<Note> limitations;
};

/// What an ablation looks at: the metrics of `gates`, the peak above idle of the reference role and
/// of each group's largest, the reference role's times per round. Roles of `*` are those in
/// `roles`.
std::vector<RoleMetric> ablation_metrics(const std::vector<Gate>& gates,
                                         const std::vector<std::string>& roles,
                                         const JobFacts& job);

/// The ablation that the run's config asks for; empty where it asks for none.
/// @param metrics of whole trials; for their roles the peak of every phase is added.
Ablation ablate(const RunData& run, const ExperimentView& view,
                const std::vector<RoleMetric>& metrics, const AnalysisSettings& settings);

}  // namespace memduel
