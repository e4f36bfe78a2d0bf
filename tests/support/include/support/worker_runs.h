// For tests: a run without training over a small table of tensors, its roles as threads.
#pragma once

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "workloads/federated/roles.h"
#include "workloads/federated/worker_config.h"
#include "workloads/optimizations/test_catalog_files.h"

namespace memduel {

/// What a test wants different from a run of two clients and two rounds over gRPC.
struct TestRun {
  std::string preset = "appfl-original";
  nlohmann::json workload = nlohmann::json::object();       ///< merged over the defaults
  nlohmann::json optimizations = nlohmann::json::object();  ///< merged over the preset
};

inline WorkerConfig test_run_config(const std::filesystem::path& dir, const TestRun& run) {
  nlohmann::json workload = {
      {"kind", "state-dict"},
      {"model", "tensors"},
      {"tensors",
       {{"a", {512, 1024}},
        {"b", {100}},
        {"c", {33, 7}},
        // As batch norm has them.
        {"norm.batches", {{"shape", {3}}, {"dtype", "int64"}, {"buffer", true}}},
        {"norm.mean", {{"shape", {40}}, {"buffer", true}}}}},
      {"clients", 2},
      {"rounds", 2},
      {"threads", 1},
      {"transport", {{"kind", "unix"}, {"max_message_bytes", 1048576}}},
      {"deadline_seconds", 100}};
  workload.merge_patch(run.workload);
  nlohmann::json optimizations = preset_values(run.preset);
  optimizations.update(run.optimizations);
  return parse_worker_config({{"workload", workload},
                              {"optimizations", optimizations},
                              {"seed", 1},
                              {"meters", nlohmann::json::array()},
                              {"trial_dir", dir.string()},
                              {"data_dir", ""},
                              {"address_file", (dir / "server.address").string()},
                              {"model_file", (dir / "final_model.bin").string()}},
                             "worker.json");
}

/// Runs the server, where there is one, and all clients to their ends.
inline void run_roles(const WorkerConfig& config) {
  auto server = std::async(std::launch::async, [&] {
    if (!config.workload.swarm) run_server(config);
  });
  std::vector<std::future<void>> clients;
  for (int index = 1; index <= config.workload.clients; ++index)
    clients.push_back(std::async(std::launch::async, [&, index] { run_client(config, index); }));
  server.get();
  for (auto& client : clients) client.get();
}

}  // namespace memduel
