// A run directory in, everything that is found of the run out: what every verb that looks at a run
// begins with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/results.h"
#include "analysis/verdicts/analyse.h"
#include "base/profile_name.h"
#include "base/run_data.h"
#include "experiment/store/store.h"

namespace memduel {

struct FinishedRun {
  std::filesystem::path directory;  ///< empty where it is in none
  RunData run;
  Results results;
  std::vector<ProfileFile> profiles;
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
nlohmann::json judged_config(nlohmann::json config, const Demands& demands);

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
