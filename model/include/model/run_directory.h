// The names of what a run's directory contains, of a suite's, and of the profiles in DIR/profiles/:
// TRIAL-ROLE[.IMAGE][.roundROUND].EXTENSION. docs/formats.md describes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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

inline constexpr const char* kAllTracers = "see memduel list profilers";

/// The tracer that is always here, and that a failed gate asks for.
inline constexpr const char* kRecorderTracer = "recorder";

struct ProfileName {
  std::int64_t trial = 0;
  std::string role;
  std::size_t image = 1;     ///< which of the role's process images, in the order they started
  std::optional<int> round;  ///< what there was at the end of this round; absent: the whole run
  std::string tracer;
};

/// A file of a run's profiles/.
struct ProfileFile {
  std::string name;
  std::uintmax_t bytes = 0;
};

/// What the names of a tracer's files end with, without the dot: "mdp", "heaptrack.zst". Throws
/// Error(usage) for a name that is no tracer's.
std::string profile_extension(std::string_view tracer);

/// "7-client-1.2.round3.gperftools.heap"; the image is left out where it is the first.
std::string to_text(const ProfileName& name);

/// Nothing for a file that no tracer of memduel left.
std::optional<ProfileName> profile_name_from(std::string_view file);

/// `first` for the first image and the whole run; else with what tells them apart put before the
/// tracer's extension, or before the last one where the name does not end with it.
std::filesystem::path profile_beside(const std::filesystem::path& first, std::string_view tracer,
                                     std::size_t image, std::optional<int> round);

}  // namespace memduel
