// Which switch matters: every switch added alone to the baseline and left out of the candidate,
// each an arm that was measured, never a derived number.
//
// A cell compares its arm with its reference (the baseline for "added alone", the candidate for
// "left out") as a row of a comparison is compared: Hodges-Lehmann effect, interval and verdict
// from the test of a shift. The cells are advisory: their p-values are corrected by Benjamini
// and Hochberg, those of whole trials in one family and those of phases in another, and never enter
// the correction of the gates.
//
// Interaction: when switches did not influence each other, the effects of all of them added alone
// would add up to the effect of the whole, and so would the effects that they have beside all the
// others (candidate minus left out). The remainder is what is left over, its interval that of the
// sums of each block's trials.
//
// phase_peaks makes the peak of every phase a metric, so that phases are compared as trials are.
#pragma once

#include <string>
#include <vector>

#include "model/experiment_view.h"
#include "model/run_data.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"
#include "verdict/results.h"

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

// The peak of every phase as a metric of its role, so that phases can be compared as trials are.

/// The name under which `metric` of a phase stands in phase_peaks.
std::string phase_metric(const std::string& phase, const std::string& metric);

/// The run with one metric per role for every phase: the largest peak of the phase over its rounds,
/// peak_rss_above_idle_bytes where the role has an idle level, else peak_rss_bytes. Rounds and all
/// other metrics are left out.
RunData phase_peaks(const RunData& run);

}  // namespace memduel
