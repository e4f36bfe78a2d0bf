#include "experiment/run/artifact_comparison.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "experiment/config/test_support.h"
#include "experiment/run/artifacts.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Trials of a job that leaves a file "model" whose content is a number; the compare command, which
/// is not run, prints the difference of two.
class ArtifactComparisonTest : public TestFolder {
 protected:
  static Experiment experiment_with(const std::string& argument) {
    json config = json::parse(R"({
      "name": "job",
      "workload": {"kind": "command", "processes": [{"role": "job", "argv": ["./job"]}],
                   "files": [{"name": "model", "path": "{trial_dir}/model.txt",
                              "compare": ["./diff", "{a}", "{b}"]}]},
      "arms": [{"name": "before"}, {"name": "after", "append": {"job": ["--fast"]}}],
      "baseline": "before"})");
    config["workload"]["processes"][0]["argv"].push_back(argument);
    return parse_experiment(config.dump(), "c.json", "/job", {}, small_provider());
  }

  void left(const std::string& arm, int block, const std::string& content) {
    const Artifact file{Artifact::Kind::file, "model", folder_ / "model.txt", {}};
    write_file_atomically(file.path, content);
    TrialData trial;
    trial.arm = arm;
    trial.block = block;
    take_artifact(file, {}, folder_, trial);
    run_.trials.push_back(trial);
  }

  ArtifactComparison compare(const std::string& argument = "--seed=1") {
    return compare_artifacts(
        experiment_with(argument), run_, folder_, folder_, [this](const TrialPlan& plan) {
          ++asked_;
          const ProcessSpec& process = plan.processes.at(0);
          EXPECT_EQ(process.role, "compare.model");
          EXPECT_EQ(process.cwd, "/job/");
          const double a = std::stod(read_file(process.argv.at(1)));
          const double b = std::stod(read_file(process.argv.at(2)));
          write_file_atomically(folder_ / "0-compare.model.stdout",
                                words_ + std::to_string(std::abs(a - b)) + "\n\n");
          return TrialRun{};
        });
  }

  RunData run_;
  int asked_ = 0;
  std::string words_ = "largest difference: ";
};

TEST_F(ArtifactComparisonTest, EqualFilesNeedNoCommand) {
  for (int block = 1; block <= 3; ++block) {
    left("before", block, "1");
    left("after", block, "1");
  }
  const ArtifactComparison result = compare();
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].max_difference, 0);
  EXPECT_EQ(result.differences[0].max_within_baseline, 0);
  EXPECT_EQ(asked_, 0);
  EXPECT_TRUE(result.warnings.empty());
}

TEST_F(ArtifactComparisonTest, TheLargestDifferenceOfAllBlocksBesideTheBaselinesOwn) {
  left("before", 1, "1");
  left("after", 1, "3");
  left("before", 2, "1.5");
  left("after", 2, "7.5");
  left("before", 3, "1.5");
  left("after", 3, "7.5");
  const ArtifactComparison result = compare();
  EXPECT_EQ(result.differences.at(0).max_difference, 6);
  EXPECT_EQ(result.differences[0].max_within_baseline, 0.5);
  EXPECT_EQ(asked_, 3) << "equal pairs are asked about once";
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_EQ(result.warnings[1].message, "the trials of arm before leave 2 different model");
}

TEST_F(ArtifactComparisonTest, AJobThatIsToldItsBlockMayVary) {
  left("before", 1, "1");
  left("after", 1, "1");
  left("before", 2, "2");
  left("after", 2, "2");
  const ArtifactComparison result = compare("--seed={block}");
  EXPECT_EQ(result.differences.at(0).max_difference, 0);
  EXPECT_FALSE(result.differences[0].max_within_baseline);
  EXPECT_TRUE(result.warnings.empty());
}

TEST_F(ArtifactComparisonTest, ACommandThatPrintsNoNumberIsAWarning) {
  words_ = "nothing but";
  left("before", 1, "1");
  left("after", 1, "2");
  const ArtifactComparison result = compare();
  EXPECT_FALSE(result.differences.at(0).max_difference);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].code, "files_not_compared");
  EXPECT_THAT(result.warnings[0].message, testing::HasSubstr("printed no number"));
}

}  // namespace
}  // namespace memduel
