#include <gtest/gtest.h>

#include "stats/samples.h"
#include "support/synthetic_run.h"
#include "verdict/analyse.h"

namespace memduel {
namespace {

RunData twin_run(size_t blocks, double sd) {
  Random random(4);
  std::vector<double> a;
  std::vector<double> b;
  for (size_t i = 0; i < blocks; ++i) {
    a.push_back(5e8 * (1 + sd * random.normal()));
    b.push_back(5e8 * (1 + sd * random.normal()));
  }
  RunData run = make_duel("peak_rss_bytes", a, b);
  run.config.variants[1].twin_of = "a";
  return run;
}

TEST(Calibrate, CutsTheBlocksIntoDisjointDuels) {
  const Calibration calibration = calibrate(twin_run(40, 0.01), {}, 8);
  EXPECT_EQ(calibration.fingerprint, "here");
  EXPECT_EQ(calibration.blocks, 40);
  EXPECT_EQ(calibration.gate_rows, 5);
  EXPECT_EQ(calibration.flagged_gate_rows, 0);
  // Clopper-Pearson after 0 of 5: 1 - .025^(1/5).
  EXPECT_NEAR(calibration.false_positive_interval.high, 0.5218, 1e-4);
}

TEST(Calibrate, FindsTheNoiseFloorOfNormalNoise) {
  const Calibration calibration = calibrate(twin_run(200, 0.01), {}, 8);
  const CalibratedMetric& metric = calibration.metrics.at({"all", "peak_rss_bytes"});
  // The shift's standard error is near 0.01 sqrt(2 / 8) = 0.5%; 95% stay below 1.96 of them.
  EXPECT_NEAR(metric.noise_floor, 1.96 * 0.005, 0.0025);
  ASSERT_TRUE(metric.minimum_detectable);
  EXPECT_GT(*metric.minimum_detectable, metric.noise_floor);
}

TEST(Calibrate, GivesNoSizeOfAMetricThatIsZeroInTheMedian) {
  std::vector<double> shared(16, 0);
  shared[3] = 65536;
  shared[9] = 131072;
  RunData run = make_duel("peak_rss_bytes", shared, std::vector<double>(16, 0));
  run.config.variants[1].twin_of = "a";
  const Calibration calibration = calibrate(run, {}, 8);
  const CalibratedMetric& metric = calibration.metrics.at({"all", "peak_rss_bytes"});
  EXPECT_EQ(metric.noise_floor, 0);
  EXPECT_FALSE(metric.minimum_detectable);
}

TEST(Calibrate, RefusesLessThanADuelAndMoreThanTwoArms) {
  EXPECT_THROW(calibrate(twin_run(7, 0.01), {}, 8), Error);
  RunData three = twin_run(8, 0.01);
  three.config.variants.emplace_back().name = "c";
  EXPECT_THROW(calibrate(three, {}, 8), Error);
}

TEST(CalibrationJson, ReadsBackWhatItWrote) {
  const Calibration calibration = calibrate(twin_run(16, 0.01), {}, 8);
  const nlohmann::json written = calibration_to_json(calibration);
  EXPECT_EQ(calibration_to_json(calibration_from_json(written, "c.json")), written);
}

TEST(CalibrationJson, RefusesAnotherSchema) {
  EXPECT_THROW(calibration_from_json({{"schema", "other"}}, "c.json"), Error);
}

TEST(Calibration, RaisesWhatAClaimMustReachAndNoMargin) {
  AnalysisSettings settings;
  settings.calibration.emplace();
  settings.calibration->metrics[{"all", "peak_rss_bytes"}].noise_floor = 0.04;
  const auto duel = [&](double candidate) {
    return analyse(make_duel("peak_rss_bytes", std::vector<double>(8, 5e8),
                             std::vector<double>(8, candidate)),
                   settings)
        .comparisons.front();
  };
  EXPECT_NEAR(duel(5e8).margin, 0.01, 1e-12);
  EXPECT_EQ(duel(5.15e8).verdict, Verdict::inconclusive) << "3% are below the floor of 4%";
  EXPECT_EQ(duel(5.25e8).verdict, Verdict::regressed);
}

}  // namespace
}  // namespace memduel
