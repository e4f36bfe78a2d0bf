// The names of what a run's directory holds, and a suite's; docs/formats.md describes each.
#pragma once

namespace memduel {

inline constexpr const char* kStoreFile = "run.sqlite";  ///< all that was measured
inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kResultsFile = "results.json";
inline constexpr const char* kReportFile = "report.html";
inline constexpr const char* kLockFile = "run.lock";
/// The calibration that the run is judged by, where there was one when it began.
inline constexpr const char* kCalibrationFile = "calibration.json";

inline constexpr const char* kLogsFolder = "logs";
inline constexpr const char* kProfilesFolder = "profiles";
inline constexpr const char* kModelsFolder = "models";
inline constexpr const char* kFilesFolder = "files";
inline constexpr const char* kTrialsFolder = "trials";        ///< goes with each trial
inline constexpr const char* kWorktreesFolder = "worktrees";  ///< goes with the run

inline constexpr const char* kSuiteFile = "suite.json";
inline constexpr const char* kSuitePage = "index.html";

/// Beside a run's directory, where Slurm measures its shares.
inline constexpr const char* kSharesSuffix = ".shares";
inline constexpr const char* kSlurmFile = "slurm.json";  ///< what was handed over

}  // namespace memduel
