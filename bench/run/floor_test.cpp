#include "floor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/metric_catalogue.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using testing::HasSubstr;

Experiment experiment_of_command(bool one_variant = true) {
  Document document = document_of_program("measure", {"/bin/cat", "/dev/null"}, "/");
  document.baseline = "command";
  document.variants.emplace_back().name = "command";
  if (!one_variant) {
    Variant& other = document.variants.emplace_back();
    other.name = "other";
    other.argv[kCommand] = {"/bin/true"};
  }
  Overrides overrides;
  overrides.one_variant = true;
  overrides.drawn_seed = 1;
  return make_experiment(document, "measure", "/", overrides);
}

TrialData trial_with(double peak_rss, std::optional<double> heap) {
  TrialData trial;
  trial.kind = TrialKind::measure;
  trial.status = TrialStatus::ok;
  trial.arm = "command";
  trial.block = 1;
  RoleData& all = trial.roles.emplace_back();
  all.role = kTree;
  all.metrics[kPeakRss] = peak_rss;
  if (heap) all.metrics[kPeakHeap] = *heap;
  return trial;
}

class FloorTest : public TestFolder {
 protected:
  std::optional<Note> note(double peak_rss, std::optional<double> heap, bool one_variant = true) {
    RunData run;
    run.trials = {trial_with(peak_rss, heap)};
    PlanSite site;
    site.trials_dir = folder_ / "trials";
    site.log_dir = folder_ / "logs";
    return near_floor(experiment_of_command(one_variant), run, site, 7,
                      [this](const TrialPlan& plan) {
                        words_ = plan.processes.front().argv;
                        EXPECT_TRUE(std::filesystem::is_directory(plan.trial_dir));
                        TrialRun empty;
                        empty.trial = trial_with(1.6e6, 0);
                        empty.trial.status = status_;
                        return empty;
                      });
  }

  std::vector<std::string> words_;
  TrialStatus status_ = TrialStatus::ok;
};

TEST_F(FloorTest, NotesAPeakNearThatOfAnEmptyProgram) {
  const auto near = note(1.7e6, 0);
  ASSERT_TRUE(near);
  EXPECT_THAT(near->message, HasSubstr("peak RSS of 1.62 MiB is near the 1.53 MiB"));
  EXPECT_EQ(words_.front(), "true");
}

TEST_F(FloorTest, NotesNothingOfALargerPeak) {
  EXPECT_FALSE(note(4e6, 1e6));
  EXPECT_EQ(words_.size(), 1U) << "the empty program ran";
  words_.clear();
  EXPECT_FALSE(note(90e6, 80e6));
  EXPECT_TRUE(words_.empty()) << "an empty program never takes so much";
}

TEST_F(FloorTest, NamesTheVariantsNearIt) {
  const auto near = note(1.7e6, 0, false);
  ASSERT_TRUE(near);
  EXPECT_THAT(near->message, HasSubstr("peak RSS of command (1.62 MiB) is near the 1.53 MiB"));
}

TEST_F(FloorTest, NeedsTheMeterAndAnEmptyProgramThatRuns) {
  EXPECT_FALSE(note(1.7e6, std::nullopt)) << "nothing was preloaded";
  status_ = TrialStatus::failed;
  EXPECT_FALSE(note(1.7e6, 0));
}

}  // namespace
}  // namespace memduel
