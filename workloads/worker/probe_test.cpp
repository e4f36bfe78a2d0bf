// Budgets of the trainings whose data are made first: graphs and EEG.
#include "probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "budget/memory_budget.h"
#include "kdgat/graph_models.h"
#include "support/worker_runs.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

/// The target: a true peak on a held-out batch within -15% and +0% of the budget.
void expect_just_below(const BudgetReport& report, double budget_bytes) {
  EXPECT_TRUE(report.found.fits);
  ASSERT_TRUE(report.true_peak_bytes);
  EXPECT_THAT(*report.true_peak_bytes, AllOf(Ge(0.85 * budget_bytes), Le(budget_bytes)));
}

class BudgetOfGraphs : public testing::Test {
 protected:
  [[nodiscard]] WorkerConfig config(const std::string& preset,
                                    const json& switches = json::object()) const {
    return played_config({{"kind", "graph"},
                          {"model", "gat-small"},
                          {"teacher", "gat-small"},
                          {"autoencoder", "vgae-small"},
                          {"threads", 1},
                          {"dataset", {{"name", "can-generated"}, {"graphs", 2000}, {"seed", 42}}},
                          {"autoencoder_epochs", 1},
                          {"teacher_epochs", 1},
                          {"student_epochs", 1},
                          {"batch_size", 64},
                          {"learning_rate", 0.003},
                          {"deadline_seconds", 100}},
                         preset, switches, scratch_.path(), "");
  }

  /// Of a device of 40 MiB, of which 70% less a tenth may be used.
  [[nodiscard]] BudgetReport report(const WorkerConfig& config, const std::string& network) const {
    return probe_budget(config, {40 * kMiB, 0.7, {1, 1'000'000}, true, network});
  }

  const ScratchDirectory scratch_{testing::TempDir(), "budget_of_graphs"};
};

TEST_F(BudgetOfGraphs, GivesABatchWhoseTruePeakIsJustBelowTheBudget) {
  for (const char* network : {"autoencoder", "teacher", "student"}) {
    SCOPED_TRACE(network);
    expect_just_below(report(config("kdgat-original"), network), 0.63 * 40 * kMiB);
  }
  SCOPED_TRACE("optimized");
  expect_just_below(report(config("kdgat-optimized"), "student"), 0.63 * 40 * kMiB);
}

// 35 identifiers: those of the traffic, and the unknown.
TEST_F(BudgetOfGraphs, CountsATeacherBesideTheStudent) {
  const double parameters =
      static_cast<double>(parameter_count(find_graph_model("gat-small"), 35)) * sizeof(float);
  const BudgetReport beside = report(config("kdgat-original"), "student");
  EXPECT_EQ(beside.from_shapes.parameter_bytes, parameters);
  EXPECT_EQ(beside.from_shapes.other_weight_bytes, parameters);
  EXPECT_NEAR(beside.measured.other_weight_bytes, parameters, 0.02 * parameters) << "malloc rounds";
  EXPECT_NEAR(beside.measured.optimizer_bytes, 2 * parameters, 0.02 * parameters);
  EXPECT_EQ(report(config("kdgat-original"), "teacher").measured.other_weight_bytes, 0);
}

TEST_F(BudgetOfGraphs, LoadingAheadLeavesLessToABatch) {
  const json none = {{"loader_workers", 0}};
  const json most = {{"loader_workers", 64}};
  EXPECT_LT(report(config("kdgat-original", most), "teacher").found.batch,
            report(config("kdgat-original", none), "teacher").found.batch);
}

// KD-GAT's safety factor of gat-small is 0.55: 70%. The workload's memory stands for a device.
TEST_F(BudgetOfGraphs, TakesDeviceAndUtilizationFromTheWorkloadWhereNoneIsAskedFor) {
  WorkerConfig planned = config("kdgat-original");
  planned.workload.graph.device_memory_bytes = 30 * kMiB;
  const BudgetReport by_config = probe_budget(planned, {});
  EXPECT_EQ(by_config.device_bytes, 30 * kMiB);
  EXPECT_DOUBLE_EQ(by_config.target_utilization,
                   utilization_for(*find_graph_model("gat-small").safety_factor));
}

TEST_F(BudgetOfGraphs, RefusesANetworkThatTheTrainingHasNot) {
  try {
    static_cast<void>(report(config("kdgat-original"), "critic"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("expected autoencoder, teacher or student, found \"critic\""));
  }
}

TEST(BudgetOfEeg, GivesABatchWhoseTruePeakIsJustBelowTheBudget) {
  const PlayedStudy study(testing::TempDir());
  for (const char* preset : {"cbramod-original", "cbramod-optimized"}) {
    SCOPED_TRACE(preset);
    const WorkerConfig config = study.config(preset);
    const BudgetReport report = probe_budget(config, {60 * kMiB, 0.7, {1, 1'000'000}, true});
    expect_just_below(report, 0.63 * 60 * kMiB);
    // 76,165 parameters (fl/criss_cross_test.cpp); AdamW keeps two states of each.
    EXPECT_EQ(report.from_shapes.parameter_bytes, 76'165 * 4);
    EXPECT_EQ(report.from_shapes.other_weight_bytes, 76'165 * 4);
    EXPECT_NEAR(report.measured.optimizer_bytes, 2 * 76'165 * 4, 64 * 1024) << "malloc rounds";
    EXPECT_EQ(report.from_shapes.sample_bytes, 4 * 5 * 200 * 4 + 8);
    EXPECT_FALSE(std::filesystem::exists(config.trial_dir / "epochs.bin")) << "it went";
  }
}

TEST(BudgetOfEeg, HasNoNetworksToChooseFrom) {
  const PlayedStudy study(testing::TempDir());
  try {
    probe_budget(study.config("cbramod-original"), {60 * kMiB, 0.7, {1, 100}, false, "teacher"});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), HasSubstr("found network \"teacher\", but a workload of kind "
                                           "\"eeg\" trains only one"));
  }
}

}  // namespace
}  // namespace memduel
