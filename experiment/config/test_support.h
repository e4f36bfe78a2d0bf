// What the room's tests share: a folder of their own, errors caught as values, a small catalog.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "experiment/config/catalog.h"
#include "experiment/config/config.h"

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

/// Two switches and two presets.
inline Catalog small_catalog() {
  const auto optimizations = nlohmann::json::parse(R"([
    {"name": "serialize", "summary": "…", "applies_to": ["federated", "state-dict"],
     "values": [{"value": "buffered", "summary": "…"}, {"value": "scoped", "summary": "…"}]},
    {"name": "piece_bytes", "summary": "…", "applies_to": ["federated"],
     "values": [{"value": 1048576, "summary": "…"}, {"value": 262144, "summary": "…"}]}])");
  const auto original = nlohmann::json::parse(R"({"name": "appfl-original", "summary": "…",
    "workload_kinds": ["federated"], "optimizations": {"serialize": "buffered"}})");
  const auto optimized = nlohmann::json::parse(R"({"name": "appfl-optimized", "summary": "…",
    "workload_kinds": ["federated"], "optimizations": {"serialize": "scoped"}})");
  return parse_catalog(optimizations, {original, optimized});
}

/// A small federated experiment with two arms and two blocks.
inline const char* federated_config() {
  return R"({
    "name": "small",  // comments are allowed
    "workload": {"kind": "federated", "model": "mnist-cnn", "dataset": {"name": "mnist"}},
    "arms": [{"name": "original", "preset": "appfl-original"},
             {"name": "optimized", "preset": "appfl-optimized"}],
    "baseline": "original",
    "measure": {"repeats": 2}
  })";
}

inline Experiment federated_experiment(const Overrides& overrides = {}) {
  return parse_experiment(federated_config(), "small.json", "/", overrides, small_catalog());
}

}  // namespace memduel
