// The row that an inconclusive run leaves open, and the gates on a row.
#pragma once

#include <string>

#include "reports/report_model.h"
#include "verdict/results.h"

namespace memduel {

/// The first gate on a row that decides and has this outcome; null without one.
const GateResult* gate_on(const Results& results, const Comparison& row, GateOutcome outcome);

/// The row that a reader asks about first of a candidate's that are inconclusive: peak RSS, or one
/// whose gate is; without gates any but time. Null without one.
const Comparison* open_row(const ReportModel& model, const std::string& candidate);

/// Whether the row is a time of runs that were not interleaved: machine drift could cause any
/// difference, so it has no verdict.
bool is_not_judged(const Results& results, const Comparison& row);

}  // namespace memduel
