// Tracers on a replay, whose libraries allocate tens of megabytes while they are loaded and free
// them after main.
#include <gtest/gtest.h>

#include <cmath>

#include "external/profile_names.h"
#include "support/memduel_program.h"

namespace memduel {
namespace {

constexpr const char* kDuel = R"({
  "name": "profilers", "baseline": "original",
  "workload": { "kind": "federated", "model": "mnist-cnn",
                "dataset": { "name": "mnist", "train_samples": 64, "test_samples": 32 },
                "clients": 1, "rounds": 1, "local_steps": 1, "batch_size": 8,
                "pre_validation": false, "client_validation": false, "server_validation": false,
                "deadline_seconds": 200 },
  "variants": [ { "name": "original", "preset": "appfl-original" },
            { "name": "minimal", "preset": "appfl-minimal" } ],
  "measure": { "repeats": 1 },
  "profile": { "profilers": ["recorder", "heaptrack", "jemalloc"] } })";

struct Amount {
  double bytes = 0;
  double half_width_bytes = 0;  ///< of the 95% interval
};

/// The sum of one kind of amounts over the malloc sites of a profile.
Amount amount_of(const nlohmann::json& profile, const char* kind) {
  Amount sum;
  double variance = 0;
  for (const auto& site : profile.at("sites")) {
    if (site.at("heap") != "malloc") continue;
    sum.bytes += site.at(kind).at("bytes").get<double>();
    variance += std::pow(site.at(kind).value("half_width_bytes", 0.0), 2);
  }
  sum.half_width_bytes = std::sqrt(variance);
  return sum;
}

TEST(TracersOfReplays, AgreeOnTheServersAndClientsOfBothArms) {
  const Workplace place;
  const Finished run = memduel(place, {"run", place.file("tracers.json", kDuel), "--data-dir",
                                       MEMDUEL_DATASETS, "--out", place.path("run")});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = results_in(place.path("run"));
  for (const std::string arm : {"original", "minimal"}) {
    for (const std::string role : {"server", "client-1"}) {
      const auto profile_by = [&](const std::string& tracer) {
        for (const auto& trial : results.at("trials"))
          if (trial.value("profiler", "") == tracer && trial.at("variant") == arm)
            return profile_in(
                place, place.path("run/profiles") / to_text({trial.at("id"), role, 1, {}, tracer}));
        ADD_FAILURE() << "no trial of " << arm << " under " << tracer;
        return nlohmann::json();
      };
      const auto recorder = profile_by("recorder");
      const auto heaptrack = profile_by("heaptrack");
      const auto jemalloc = profile_by("jemalloc");
      // Both count requested bytes. The recorder samples what its peak is made of: 99.9% of the
      // time it is within 3.29 / 1.96 of its 95% interval.
      const auto& sampled = recorder.at("peak").at("total");
      const double peak = heaptrack.at("peak").at("total").at("bytes");
      EXPECT_NEAR(sampled.at("bytes").get<double>(), peak,
                  0.01 * peak + 3.29 / 1.96 * sampled.value("half_width_bytes", 0.0))
          << arm << ", " << role;
      const double allocated = amount_of(heaptrack, "allocated").bytes;
      EXPECT_NEAR(recorder.at("counters").at("allocated_bytes").get<double>(), allocated,
                  0.01 * allocated)
          << arm << ", " << role;
      // LibTorch's operators: heaptrack stops before they go, and memduel's own dumps do not.
      constexpr double kOperators = 10e6;
      EXPECT_GT(amount_of(heaptrack, "live").bytes -
                    recorder.at("counters").at("live_bytes").get<double>(),
                kOperators)
          << arm << ", " << role;
      EXPECT_LT(amount_of(jemalloc, "live").bytes, kOperators) << arm << ", " << role;
    }
  }
}

}  // namespace
}  // namespace memduel
