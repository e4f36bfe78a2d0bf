// How a run that is concluded is shown: the common end of every verb that looks at one.
#pragma once

#include <filesystem>
#include <string>

#include "experiment/findings/conclusion.h"
#include "reports/tables/report_model.h"

namespace memduel::cli {

/// What every report of the run is written from.
ReportModel model_of(const FinishedRun& finished, const ReportOptions& options = {});

/// Adds the flame graphs, which only the page has, to its model, and leaves out the rounds that a
/// page has no room for.
void prepare_page(ReportModel& model, const FinishedRun& finished,
                  const std::filesystem::path& directory);

/// What of a run is printed when it has ended.
struct Ending {
  bool verbose = false;        ///< every table; else a summary of at most 40 lines
  bool default_gates = false;  ///< tells which gates decided, where nobody named one
};

/// Writes results.json and report.html into `directory`. Returns what print_ending would print, and
/// where the report is: a long run's model is made once.
std::string write_outputs(const std::filesystem::path& directory, const FinishedRun& finished,
                          const Ending& ending = {});

/// The run on stdout; colour where stdout is a terminal and NO_COLOR is not set.
void print_ending(const FinishedRun& finished, const Ending& ending);

}  // namespace memduel::cli
