// The report as text for files and other programs: Markdown, CSV, GitHub annotations, JUnit XML,
// and the formats of services that track benchmarks.
#pragma once

#include <string>

#include "reports/report_model.h"

namespace memduel {

/// At most 20 lines, then the folded table of all metrics. The first line is a hidden marker by
/// which a bot finds its own comment and updates it.
std::string render_markdown(const ReportModel& model);

/// One line per value: trial, block, position, arm, kind, status, role, round, phase, metric,
/// value. Round and phase are empty where the value belongs to the whole trial or round.
std::string render_csv(const ReportModel& model);

/// One line per gate: ::error where it makes the exit code, ::warning for one that is inconclusive
/// or was not measured without that, ::notice for one that passed or is advisory.
/// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
std::string render_github(const ReportModel& model);

/// One test case per gate. A gate that makes the exit code 1 or 5 is a failure, one that makes it 3
/// an error; every other that did not pass is skipped with its reason. A run in which nothing could
/// be compared is an error of its own.
std::string render_junit(const ReportModel& model);

/// Bencher Metric Format: benchmark (ROLE of ARM) to measure to value, in the metric's unit.
/// Source: bencher.dev, "Bencher Metric Format".
std::string render_bencher(const ReportModel& model);

/// What github-action-benchmark reads as customSmallerIsBetter: a list of name, unit and value.
/// Source: the README of benchmark-action/github-action-benchmark.
std::string render_benchmark_action(const ReportModel& model);

}  // namespace memduel
