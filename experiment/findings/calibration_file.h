// Where calibrations are kept between runs: one file per environment and program.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/verdicts/calibration.h"

namespace memduel {

/// $XDG_CACHE_HOME/memduel (or ~/.cache/memduel) + calibrations/FINGERPRINT/NAME-HASH.json. The
/// hash is over the workload and what makes the baseline its program, so that a calibration is
/// never used for another one. Absent where neither XDG_CACHE_HOME nor HOME names a folder.
std::optional<std::filesystem::path> calibration_path(const nlohmann::json& config,
                                                      const nlohmann::json& environment);

/// The calibration in a file; absent where there is no file. Throws Error(io) for a faulty one.
std::optional<Calibration> read_calibration(const std::filesystem::path& path);

/// Throws Error(io).
void write_calibration(const std::filesystem::path& path, const Calibration& calibration);

}  // namespace memduel
