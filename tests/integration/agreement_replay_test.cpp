// Do the tracers agree on a replay, whose libraries allocate tens of megabytes while they are
// loaded and free them after main?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/memduel_program.h"

namespace memduel {
namespace {

constexpr const char* kDuel = R"({
  "name": "agreement", "baseline": "original",
  "workload": { "kind": "federated", "model": "mnist-cnn",
                "dataset": { "name": "mnist", "train_samples": 64, "test_samples": 32 },
                "clients": 1, "rounds": 1, "local_steps": 1, "batch_size": 8,
                "pre_validation": false, "client_validation": false, "server_validation": false,
                "deadline_seconds": 200 },
  "arms": [ { "name": "original", "preset": "appfl-original" },
            { "name": "minimal", "preset": "appfl-minimal" } ],
  "measure": { "repeats": 1 },
  "profile": { "tracers": ["recorder", "heaptrack", "jemalloc"] } })";

nlohmann::json amount_of(const nlohmann::json& view, const std::string& kind) {
  for (const auto& amount : view.at("amounts"))
    if (amount.at("kind") == kind) return amount;
  return {};
}

TEST(AgreementOfReplays, TracersSayHowFarTheyAreApartAndWhy) {
  const Workplace place;
  const Finished run = memduel(place, {"run", place.file("agreement.json", kDuel), "--data-dir",
                                       MEMDUEL_DATASETS, "--out", place.path("run")});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = results_in(place.path("run"));
  ASSERT_EQ(results.at("agreement").size(), 4) << "a server and a client of each arm";
  for (const auto& agreement : results.at("agreement")) {
    const auto& tracers = agreement.at("tracers");
    ASSERT_EQ(tracers.size(), 3);
    // Both count requested bytes; the recorder samples what its peak is made of, 99.9 % of the time
    // within 3.29 / 1.96 of its 95 % interval.
    for (const char* kind : {"peak", "allocated"}) {
      const auto amount = amount_of(tracers.at(1), kind);
      const auto interval = amount_of(tracers.at(0), kind).at("half_width_bytes");
      const double chance = interval.is_null() ? 0 : 3.29 / 1.96 * interval.get<double>();
      EXPECT_LE(std::abs(amount.at("difference_bytes").get<double>()),
                0.01 * amount.at("bytes").get<double>() + chance)
          << amount;
    }
    // LibTorch's operators: heaptrack stops before they go, and memduel's own dumps do not.
    constexpr double kOperators = 10e6;
    const auto heaptrack = amount_of(tracers.at(1), "live");
    EXPECT_GT(heaptrack.at("difference_bytes"), kOperators);
    EXPECT_THAT(tracers.at(1).at("besides").get<std::string>(),
                testing::HasSubstr("stops before libraries run their destructors"));
    EXPECT_LT(amount_of(tracers.at(2), "live").at("bytes"), kOperators);
  }
}

}  // namespace
}  // namespace memduel
