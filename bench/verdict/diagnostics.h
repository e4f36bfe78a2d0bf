// What weakens a run's claims, found in its own numbers; each with advice. Flags, never deletes.
// And how much a tracer changed what it looked at: profile trials against the measure trials of an
// arm.
#pragma once

#include <string>
#include <vector>

#include "model/run_data.h"
#include "verdict/comparison.h"
#include "verdict/results.h"

namespace memduel {

/// For the gate rows: drift over the session (runs test and Ljung-Box test on the residuals in the
/// order of the trials, at the 1 % level), an effect of the place among neighbours (t test of
/// second minus first at the same level), several modes, and a first trial far from the others
/// (modified z above 3.5; Iglewicz and Hoaglin 1993). For the run: swapping, stolen CPU time
/// (environment.cpu_steal_ratio above 1 %) and other programs at the start
/// (environment.cpu_busy_ratio above a quarter; in older runs environment.load above a quarter of
/// environment.cores).
std::vector<Note> diagnose(const Observations& observations, const std::vector<MeasuredRow>& rows,
                           const nlohmann::json& environment);

/// p of "the values come in random order": the smaller of the runs test's and the Ljung-Box test's,
/// doubled. 1 for fewer than ten values or fewer than three distinct ones.
double order_p(const std::vector<double>& in_order);

/// One entry per tracer and arm that has profile trials and measure trials that lived; ratios of
/// medians. Tracers stand in the order of their first trial.
std::vector<Perturbation> perturbations(const RunData& run);

}  // namespace memduel
