// Small studies for tests.
#pragma once

#include "base/scratch_directory.h"
#include "workloads/federated/worker_config.h"
#include "workloads/optimizations/test_played_config.h"

namespace memduel {

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
