// Medians for services that follow numbers from commit to commit.
#pragma once

#include <string>

#include "reports/tables/report_model.h"

namespace memduel {

/// Bencher Metric Format: benchmark (ROLE of ARM) to measure to value, in the metric's unit.
/// Source: bencher.dev, "Bencher Metric Format".
std::string render_bencher(const ReportModel& model);

/// What github-action-benchmark reads as customSmallerIsBetter: a list of name, unit and value.
/// Source: the README of benchmark-action/github-action-benchmark.
std::string render_benchmark_action(const ReportModel& model);

}  // namespace memduel
