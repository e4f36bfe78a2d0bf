#include "budget/budget_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "budget/memory_budget.h"
#include "test_example_budget.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// 1,000 MiB, of which 630 may be used; 20 independent of batch and 2 a sample: 0.96 × 630 hold
/// 292.
BudgetReport thousand_mib() {
  BudgetReport report;
  report.device = "cpu";
  report.device_bytes = 1000 * kMiB;
  report.target_utilization = 0.7;
  report.usable_bytes = 630 * kMiB;
  report.from_shapes = {0, 4 * kMiB, 4 * kMiB, 8 * kMiB, kMiB};
  report.measured = {2 * kMiB, 4 * kMiB, 4 * kMiB, 8 * kMiB, 2 * kMiB};
  report.found = {292, true, 604 * kMiB, 20 * kMiB, 2 * kMiB, {{16, 52 * kMiB}, {32, 84 * kMiB}}};
  return report;
}

TEST(BudgetReport, IsReadBackAsItWasWritten) {
  BudgetReport report = thousand_mib();
  report.true_peak_bytes = 610 * kMiB;
  const nlohmann::json json = report;
  const auto again = nlohmann::json::parse(json.dump()).get<BudgetReport>();
  EXPECT_EQ(nlohmann::json(again), json);
  EXPECT_EQ(again.true_peak_bytes, 610 * kMiB);
  EXPECT_EQ(again.found.peaks.at(1).batch, 32);
  EXPECT_FALSE(nlohmann::json(thousand_mib()).get<BudgetReport>().true_peak_bytes);
}

TEST(BudgetReport, IsAskedForWithOrWithoutADevice) {
  BudgetRequest request{std::nullopt, 0.65, {4, 64}, true};
  auto again = nlohmann::json(request).get<BudgetRequest>();
  EXPECT_FALSE(again.device_bytes);
  EXPECT_EQ(again.bounds.least, 4);
  EXPECT_EQ(again.bounds.most, 64);
  EXPECT_TRUE(again.verify);
  EXPECT_EQ(again.target_utilization, 0.65);
  EXPECT_FALSE(again.network);
  request.device_bytes = 5e9;
  request.target_utilization.reset();
  request.network = "teacher";
  again = nlohmann::json(request).get<BudgetRequest>();
  EXPECT_FALSE(again.target_utilization);
  EXPECT_EQ(again.network, "teacher");
  EXPECT_EQ(nlohmann::json(request).get<BudgetRequest>().device_bytes, 5e9);
  EXPECT_THROW(nlohmann::json::object().get<BudgetRequest>(), nlohmann::json::exception);
}

TEST(BudgetReport, IsExceededByATruePeakAboveTheBudgetForTensors) {
  BudgetReport report = thousand_mib();
  EXPECT_FALSE(report.is_exceeded());
  report.true_peak_bytes = 630 * kMiB;
  EXPECT_FALSE(report.is_exceeded());
  report.context_bytes = kMiB;
  EXPECT_TRUE(report.is_exceeded());
}

TEST(MeasuredBudgetText, ShowsShapesBesideWhatWasMeasured) {
  EXPECT_EQ(
      describe_measured_budget(thousand_mib()),
      "                        from shapes measured\n"
      "device (cpu)            -           1000.0 MiB\n"
      "usable                  -           630.0 MiB   70% of it, less 10% for "
      "fragmentation\n"
      "  context               -           0 B\n"
      "  data                  -           2.00 MiB\n"
      "  parameters            4.00 MiB    4.00 MiB\n"
      "  gradients             4.00 MiB    4.00 MiB\n"
      "  optimizer             8.00 MiB    8.00 MiB\n"
      "independent of batch    -           20.0 MiB    intercept of the line through the peaks\n"
      "one sample              1.00 MiB    2.00 MiB    measured: including activations\n"
      "batch                   292\n"
      "estimated peak          604.0 MiB   from steps of 16, 32\n");
}

// 610 / 604 = 1.0099; 610 / 630 = 0.968. 640 / 604 = 1.0596; 640 / 630 = 1.0159.
TEST(MeasuredBudgetText, EndsWithTheTruePeakWhereItIsKnown) {
  BudgetReport report = thousand_mib();
  report.true_peak_bytes = 610 * kMiB;
  EXPECT_THAT(describe_measured_budget(report),
              HasSubstr("estimated, true peak    604.0 MiB   610.0 MiB   from steps of 16, 32\n"
                        "true peak: +1.0% of the estimate, -3.2% of the budget of 630.0 MiB\n"));
  report.true_peak_bytes = 640 * kMiB;
  EXPECT_THAT(describe_measured_budget(report),
              HasSubstr("+6.0% of the estimate, +1.6% of the budget of 630.0 MiB: more than the "
                        "usable memory\n"));
}

TEST(MeasuredBudgetText, ShowsWeightsBesideTheModelWhereThereAreSome) {
  BudgetReport report = thousand_mib();
  EXPECT_THAT(describe_measured_budget(report), Not(HasSubstr("other weights")));
  report.from_shapes.other_weight_bytes = 6 * kMiB;
  report.measured.other_weight_bytes = 7 * kMiB;
  EXPECT_THAT(describe_measured_budget(report),
              HasSubstr("\n  other weights         6.00 MiB    7.00 MiB    teacher, or copy of the "
                        "best model\nindependent of batch"));
}

TEST(MeasuredBudgetText, SaysWhereNoStepFitted) {
  BudgetReport report = thousand_mib();
  report.found.peaks.clear();
  EXPECT_THAT(describe_measured_budget(report),
              AllOf(HasSubstr("  gradients             4.00 MiB    -\n"),
                    HasSubstr("estimated peak          -           -           no step fitted\n")));
  report.true_peak_bytes = 640 * kMiB;
  EXPECT_THAT(
      describe_measured_budget(report),
      HasSubstr("estimated, true peak    -           640.0 MiB   no step fitted\n"
                "true peak: +1.6% of the budget of 630.0 MiB: more than the usable memory\n"));
}

TEST(MeasuredBudgetText, WarnsWhereTheLeastBatchDoesNotFit) {
  BudgetReport report = thousand_mib();
  EXPECT_THAT(describe_measured_budget(report), Not(HasSubstr("warning")));
  report.found.fits = false;
  EXPECT_THAT(describe_measured_budget(report),
              HasSubstr("\nwarning: the smallest batch, 292, does not fit\n"));
}

using testing::HasSubstr;

TEST(BudgetText, ShowsTheBreakdown) {
  BudgetInput input = sixteen_thousand();
  input.sample_bytes = kMiB;
  input.activation_bytes = 50 * kMiB;
  EXPECT_EQ(describe_budget(input, plan_budget(input)),
            "device                  15.6 GiB\n"
            "usable                  9.84 GiB    70% of it, less 10% for fragmentation\n"
            "  context               500.0 MiB\n"
            "  parameters            10.0 MiB    without embeddings\n"
            "  embeddings            5.00 MiB\n"
            "  optimizer             0 B\n"
            "  gradients             15.0 MiB\n"
            "  teacher               15.0 MiB\n"
            "static                  545.0 MiB   sum of these six\n"
            "available for data      9.31 GiB\n"
            "one sample              1.00 MiB\n"
            "its activations         50.0 MiB\n"
            "batch                   186         takes 9.80 GiB\n"
            "batch as KD-GAT's code  8192        takes 408.5 GiB: more than the usable memory\n");
}

TEST(BudgetText, EndsWithWarnings) {
  EXPECT_THAT(describe_budget({}, plan_budget({})),
              HasSubstr("\nwarning: no device: the smallest batch is recommended\n"));
}

TEST(BudgetText, ShowsClientsByDevice) {
  EXPECT_EQ(
      describe_parallel_clients({{"resnet18", 4 * 1073741824.0, 2, 8, 3, {"50-100", "5-10", "100"}},
                                 {"csfl-cnn", 4 * 1073741824.0, 2, 8, 8, {}}}),
      "parallel clients        device      published  as implemented  estimated\n"
      "resnet18                4.00 GiB    2          8               3\n"
      "csfl-cnn                4.00 GiB    2          8               8\n"
      "\nguide, any model        clients     per round  parallel  safe rounds\n"
      "4.00 GiB                50-100      5-10       2         100\n");
}

}  // namespace
}  // namespace memduel
