// How a run that is concluded is shown: the common end of every verb that looks at one.
#pragma once

#include <filesystem>
#include <string>

#include "experiment/findings/conclusion.h"
#include "reports/tables/report_model.h"

namespace memduel::cli {

/// What every report of the run is written from.
ReportModel model_of(const FinishedRun& finished, const ReportOptions& options = {});

/// Adds the flame graphs, which only the page has, to its model.
void add_flames(ReportModel& model, const FinishedRun& finished,
                const std::filesystem::path& directory);

/// Writes results.json and report.html into `directory`. Returns what print_terminal_report would
/// print: a long run's model is made once.
std::string write_outputs(const std::filesystem::path& directory, const FinishedRun& finished);

/// The gates that decided without anybody having named one, for people; empty where some were
/// named.
std::string default_gates_line(const FinishedRun& finished);

/// The terminal report on stdout; colour where stdout is a terminal and NO_COLOR is not set.
void print_terminal_report(const FinishedRun& finished);

}  // namespace memduel::cli
