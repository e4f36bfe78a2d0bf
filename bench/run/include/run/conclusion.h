// A run directory in, everything that is found of the run out: what every verb that looks at a run
// begins with. And where calibrations are kept between runs.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/run_data.h"
#include "model/run_directory.h"
#include "readers/profile_reader.h"
#include "run/store.h"
#include "verdict/analyse.h"
#include "verdict/results.h"

namespace memduel {

/// $XDG_CACHE_HOME/memduel (or ~/.cache/memduel) + calibrations/FINGERPRINT/NAME-HASH.json. The
/// hash is over the workload and what makes the baseline its program, so that a calibration is
/// never used for another one. Absent where neither XDG_CACHE_HOME nor HOME names a folder.
std::optional<std::filesystem::path> calibration_path(const Document& config,
                                                      const nlohmann::json& environment);

/// The calibration in a file; absent where there is no file. Throws Error(io) for a faulty one.
std::optional<Calibration> read_calibration(const std::filesystem::path& path);

/// Throws Error(io).
void write_calibration(const std::filesystem::path& path, const Calibration& calibration);

struct FinishedRun {
  std::filesystem::path directory;  ///< empty where it is in none
  RunData run;
  Results results;
  std::vector<ProfileFile> profiles;
  std::shared_ptr<ProfileReader> profile_reader = std::make_shared<ProfileReader>();
};

/// What is asked of a run beside what its config asks.
struct Demands {
  std::vector<std::string> gates;  ///< in place of the config's, where there are any
  bool strict_gates = false;
  bool no_default_gates = false;
  OnInconclusive on_inconclusive = OnInconclusive::beyond;
  bool is_check = false;  ///< a config may ask for the default gates of memduel check alone
};

/// The config with the gates that are demanded.
Document judged_config(Document config, const Demands& demands);

/// The settings that a run is judged by. Throws Error(usage) for a faulty gate.
AnalysisSettings settings_for(const RunData& run, const Demands& demands = {},
                              std::optional<Calibration> calibration = std::nullopt);

/// The same with the calibration that lies in `directory`.
AnalysisSettings settings_in(const std::filesystem::path& directory, const RunData& run,
                             const Demands& demands = {});

/// Reads the run in `directory`, which may still be going on, and all that its trials and profiles
/// say. A gate that failed without a profile to explain it is a limitation. Throws Error(io).
FinishedRun conclude(const std::filesystem::path& directory, const Demands& demands = {},
                     WithSeries series = WithSeries::yes);

}  // namespace memduel
