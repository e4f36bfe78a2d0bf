// For tests: what a role of one process is told, a run without training over a small table of
// tensors with its roles as threads, and small studies.
#pragma once

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "fl/roles.h"
#include "fl/worker_config.h"
#include "support/catalog_files.h"
#include "util/file.h"

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
                              {"switches", optimizations},
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

/// @param switches over those of the preset. The final model goes into `directory`.
inline WorkerConfig played_config(const nlohmann::json& workload, const std::string& preset,
                                  const nlohmann::json& switches,
                                  const std::filesystem::path& directory,
                                  const std::string& data_dir) {
  nlohmann::json optimizations = preset_values(preset);
  optimizations.update(switches);
  nlohmann::json document = {{"workload", workload},
                             {"switches", optimizations},
                             {"seed", 1},
                             {"meters", nlohmann::json::array()},
                             {"trial_dir", directory.string()},
                             {"data_dir", data_dir},
                             {"address_file", ""},
                             {"model_file", (directory / "final_model.bin").string()}};
  if (workload.at("kind") == "graph") document["graph_file"] = (directory / "graphs.bin").string();
  return parse_worker_config(document, "worker.json");
}

/// Fine-tunings of the small network on 40 epochs of 4 channels and 5 s.
class PlayedStudy {
 public:
  explicit PlayedStudy(const std::string& parent) : scratch_(parent, "study") {}

  [[nodiscard]] WorkerConfig config(
      const std::string& preset, const nlohmann::json& workload = nlohmann::json::object(),
      const nlohmann::json& switches = nlohmann::json::object()) const {
    nlohmann::json all = {{"kind", "eeg"},
                          {"model", "cbramod-small"},
                          {"threads", 1},
                          {"dataset",
                           {{"name", "synthetic-eeg"},
                            {"train_samples", 40},
                            {"test_samples", 20},
                            {"channels", 4},
                            {"seconds", 5},
                            {"seed", 42}}},
                          {"trials", 2},
                          {"epochs", 2},
                          {"patience", 5},
                          {"batch_size", 8},
                          {"learning_rates", {0.003}},
                          {"dropout", 0.1},
                          {"deadline_seconds", 100}};
    all.merge_patch(workload);
    return played_config(all, preset, switches, path(), "");
  }

  [[nodiscard]] const std::filesystem::path& path() const { return scratch_.path(); }

 private:
  ScratchDirectory scratch_;
};

}  // namespace memduel
