// The report as text for files and other programs: Markdown, CSV, GitHub annotations, JUnit XML,
// and the formats of services that track benchmarks.
#pragma once

#include <string>

#include "reports/report_document.h"
#include "reports/report_model.h"

namespace memduel {

/// The first screen, then the details, folded. The first line is a hidden marker by which a bot
/// finds its own comment and updates it. At most as long as a comment of GitHub may be: what has no
/// room is named.
std::string render_markdown(const ReportDocument& document);

/// One line per value: trial, block, position, arm, kind, status, role, round, phase, metric,
/// value. Round and phase are empty where the value belongs to the whole trial or round.
std::string render_csv(const ReportModel& model);

/// One line per check: ::error where it makes the exit code, with the file and line of the largest
/// cause where they are known; ::warning for one that is inconclusive or was not measured without
/// that; ::notice for one that passed or is advisory; and a notice with the document's sentence.
/// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
std::string render_github(const ReportDocument& document);

/// One test case per check. One that makes the exit code 1 or 5 is a failure, one that makes it 3
/// an error; every other that did not pass is skipped with its reason.
std::string render_junit(const ReportDocument& document);

/// Bencher Metric Format: benchmark (ROLE of ARM) to measure to value, in the metric's unit.
/// Source: bencher.dev, "Bencher Metric Format".
std::string render_bencher(const ReportModel& model);

/// What github-action-benchmark reads as customSmallerIsBetter: a list of name, unit and value.
/// Source: the README of benchmark-action/github-action-benchmark.
std::string render_benchmark_action(const ReportModel& model);

/// Go's benchmark format: a line for each measured trial and role, below the configuration key
/// `variant`; `benchstat -col variant FILE` compares the variants. Units are the metrics' names
/// with hyphens; wall time is in ns/op.
std::string render_benchstat(const ReportModel& model);

/// As hyperfine 2 exports runs: JSON of schema 2, CSV with all metrics, Markdown with the wall
/// time. `memory_peak_resident` is that of the largest single process, as in hyperfine;
/// `memory_peak_resident_all_processes` is their sum at its highest.
std::string render_hyperfine_json(const ReportModel& model);
std::string render_hyperfine_csv(const ReportModel& model);
std::string render_hyperfine_markdown(const ReportModel& model);

}  // namespace memduel
