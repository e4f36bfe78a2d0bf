#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/config/ablation_arms.h"
#include "laboratory/expand.h"

namespace memduel {
namespace {

using nlohmann::json;

TEST(ReplayAblation, OfTheBuiltInPresetsStandForEverySwitchThatDiffers) {
  const Experiment experiment = parse_experiment(
      R"({"name": "appfl", "baseline": "original",
          "workload": {"kind": "federated", "model": "mnist-cnn", "dataset": {"name": "mnist"}},
          "arms": [{"name": "original", "preset": "appfl-original"},
                   {"name": "minimal", "preset": "appfl-minimal"}]})",
      "c.json", "/", {}, ask_laboratory);
  const Experiment ablation = ablation_experiment(experiment, {}, ask_laboratory);
  std::size_t differing = 0;
  for (const auto& item : experiment.arms[0].optimizations.items())
    if (experiment.arms[1].optimizations.at(item.key()) != item.value()) ++differing;
  const json& switches = ablation.resolved.at("ablation").at("switches");
  EXPECT_EQ(switches.size(), differing);
  for (const json& one : switches) {
    if (one.at("name") == "staging") {
      EXPECT_EQ(one.at("added_alone").at("idle"), "needs aggregate=streaming_fold");
      EXPECT_EQ(one.at("left_out").at("arm"), "minimal-staging");
    }
  }
}

}  // namespace
}  // namespace memduel
