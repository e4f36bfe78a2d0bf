// For tests: a folder of their own, errors caught as values, a small catalog and experiment.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "config/experiment.h"
#include "config/provider.h"
#include "util/error.h"

namespace memduel {

/// A folder that a test has for itself.
class TestFolder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("memduel_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
       "_" + std::to_string(::getpid()));
};

/// The Error that `call` throws; a failure of the test when it throws none.
inline Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return {ExitCode::ok, ""};
}

inline nlohmann::json catalogue_with(const nlohmann::json& optimizations,
                                     const nlohmann::json& presets) {
  return {{"schema", "memduel.catalogue/2"},
          {"name", "small"},
          {"version", "1"},
          {"switches", optimizations},
          {"presets", presets}};
}

/// Answers as a provider of federated rounds would, and starts nothing: a server and two clients,
/// or as many as the workload says, with their switches in worker.json.
inline AskProvider provider_with(const nlohmann::json& optimizations,
                                 const nlohmann::json& presets = nlohmann::json::array()) {
  return [=](const Provider&, const std::string& word, const nlohmann::json& request) {
    using nlohmann::json;
    if (word == "catalogue") return catalogue_with(optimizations, presets);
    const json clients = request.at("workload").value("clients", json(2));
    json job = json::parse(R"({"kind": "command", "memduel_statuses": true, "processes": [
      {"role": "server", "argv": ["/bin/worker", "server"],
       "ready": {"file": "{trial_dir}/server.address"}},
      {"role": "client", "count": 2, "argv": ["/bin/worker", "client"], "after": ["server"]}],
      "final_model": {"path": "{trial_dir}/final_model.bin", "compare": ["/bin/worker"]}})");
    job["processes"][1]["count"] = clients;
    json arms = json::array();
    for (const json& arm : request.at("variants"))
      arms.push_back(
          {{"name", arm.at("name")},
           {"templates",
            {{{"json",
               {{"switches", arm.at("switches")}, {"deadline_seconds", "{deadline_seconds}"}}},
              {"to", "{trial_dir}/worker.json"}}}}});
    return json{{"schema", "memduel.expanded/2"},
                {"workload", job},
                {"variants", arms},
                {"meters", {"procfs", "allocator", "torch"}}};
  };
}

inline nlohmann::json small_switches() {
  return nlohmann::json::parse(R"([
    {"name": "serialize", "summary": "…", "applies_to": ["federated", "state-dict"],
     "values": [{"value": "buffered", "summary": "…"}, {"value": "scoped", "summary": "…"}]},
    {"name": "piece_bytes", "summary": "…", "applies_to": ["federated"],
     "values": [{"value": 1048576, "summary": "…"}, {"value": 262144, "summary": "…"}]}])");
}

inline nlohmann::json small_presets() {
  return nlohmann::json::parse(R"([
    {"name": "appfl-original", "summary": "…", "workload_kinds": ["federated"],
     "switches": {"serialize": "buffered"}},
    {"name": "appfl-optimized", "summary": "…", "workload_kinds": ["federated"],
     "switches": {"serialize": "scoped"}}])");
}

/// Two switches and two presets.
inline Catalog small_catalog() {
  return parse_catalog(catalogue_with(small_switches(), small_presets()), "small");
}

inline AskProvider small_provider() {
  return provider_with(small_switches(), small_presets());
}

/// A small federated experiment with two arms and two blocks.
inline const char* federated_config() {
  return R"({
    "name": "small",  // comments are allowed
    "workload": {"kind": "federated", "model": "mnist-cnn", "dataset": {"name": "mnist"}},
    "variants": [{"name": "original", "preset": "appfl-original"},
             {"name": "optimized", "preset": "appfl-optimized"}],
    "baseline": "original",
    "measure": {"repeats": 2}
  })";
}

inline Experiment federated_experiment(const Overrides& overrides = {}) {
  return parse_experiment(federated_config(), "small.json", "/", overrides, small_provider());
}

}  // namespace memduel
