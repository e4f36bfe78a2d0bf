// The names of what a run's directory contains, and of a suite's; of the profiles in DIR/profiles/
// see external/profile_names.h. docs/formats.md describes each.
#pragma once

#include <cstdint>
#include <string>

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
inline constexpr const char* kShardsSuffix = ".shards";
inline constexpr const char* kSlurmFile = "slurm.json";  ///< what was handed over

inline constexpr const char* kAllTracers = "see memduel list profilers";

/// The tracer that is always here, and that a failed gate asks for.
inline constexpr const char* kRecorderTracer = "recorder";

/// A file of a run's profiles/.
struct ProfileFile {
  std::string name;
  std::uintmax_t bytes = 0;
};

}  // namespace memduel
