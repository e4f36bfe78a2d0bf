// What a run directory holds, analysed: the common beginning of every verb that looks at a run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/results.h"
#include "analysis/verdicts/analyse.h"
#include "base/run_data.h"
#include "experiment/store/store.h"
#include "reports/tables/report_model.h"

namespace memduel::cli {

struct FinishedRun {
  RunData run;
  Results results;
  std::vector<ProfileFile> profiles;
};

/// The calibration that a run keeps in its directory, where there was one when it began.
inline constexpr const char* kCalibrationFile = "calibration.json";

/// The settings that the run's config asks for, with `gates` in place of its own where there are
/// any. Throws Error(usage) for a faulty gate.
AnalysisSettings settings_for(const RunData& run, const std::vector<std::string>& gates,
                              std::optional<Calibration> calibration);

/// The same for a run in `directory`, with the calibration that lies there.
AnalysisSettings settings_in(const std::filesystem::path& directory, const RunData& run,
                             const std::vector<std::string>& gates);

/// Reads and analyses the run in `directory`, its profiles, too; it may still be going on. Throws
/// Error(io).
FinishedRun analyse_directory(const std::filesystem::path& directory,
                              const std::vector<std::string>& gates, WithSeries series);

/// Adds the profiles in `directory` and where they say that the arms differ; says so where a gate
/// failed and there are none.
void add_profiles(FinishedRun& finished, const std::filesystem::path& directory);

/// What every report of the run is written from.
ReportModel model_of(const FinishedRun& finished, const ReportOptions& options = {});

/// Adds the flame graphs, which only the page has, to its model.
void add_flames(ReportModel& model, const FinishedRun& finished,
                const std::filesystem::path& directory);

/// Writes results.json and report.html into `directory`.
void write_outputs(const std::filesystem::path& directory, const FinishedRun& finished);

/// The gates that decided without anybody having named one, for people; empty where some were
/// named.
std::string default_gates_line(const FinishedRun& finished);

/// The terminal report on stdout; colour where stdout is a terminal and NO_COLOR is not set.
void print_terminal_report(const FinishedRun& finished);

/// `text` in stdout, whole. Throws Error(io) when it cannot be written.
void print(const std::string& text);

/// `text` for people: where `descriptor` is a terminal, lines are broken where they do not fit.
std::string fitted_to(int descriptor, const std::string& text);
/// Prints `text` for people.
void print_fitted(const std::string& text);

}  // namespace memduel::cli
