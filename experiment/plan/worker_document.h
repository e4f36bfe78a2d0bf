// worker.json: what memduel-worker is told of an arm.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiment/config/config.h"

namespace memduel {

/// @param trial_dir where the roles leave their files, and the graphs of a training on graphs.
nlohmann::json worker_document(const Experiment& experiment, const Arm& arm,
                               const std::filesystem::path& data_dir,
                               const std::filesystem::path& trial_dir);

}  // namespace memduel
