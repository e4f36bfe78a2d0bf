// For tests: what a role of one process is told.
#pragma once

#include <filesystem>

#include "workloads/federated/worker_config.h"
#include "workloads/optimizations/test_catalog_files.h"

namespace memduel {

/// @param switches over those of the preset. The final model goes into `directory`.
inline WorkerConfig played_config(const nlohmann::json& workload, const std::string& preset,
                                  const nlohmann::json& switches,
                                  const std::filesystem::path& directory,
                                  const std::string& data_dir) {
  nlohmann::json optimizations = preset_values(preset);
  optimizations.update(switches);
  nlohmann::json document = {{"workload", workload},
                             {"optimizations", optimizations},
                             {"seed", 1},
                             {"meters", nlohmann::json::array()},
                             {"trial_dir", directory.string()},
                             {"data_dir", data_dir},
                             {"address_file", ""},
                             {"model_file", (directory / "final_model.bin").string()}};
  if (workload.at("kind") == "graph") document["graph_file"] = (directory / "graphs.bin").string();
  return parse_worker_config(document, "worker.json");
}

}  // namespace memduel
