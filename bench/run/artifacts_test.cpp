#include "artifacts.h"

#include <gmock/gmock.h>

#include "support/small_experiment.h"
#include "util/bytes.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

using Kind = Artifact::Kind;

class Artifacts : public TestFolder {
 protected:
  /// The SHA-256 that a trial of arm "a" gets.
  std::string take(const Artifact& artifact) {
    TrialPlan plan;
    plan.arm = "a";
    TrialData trial;
    take_artifact(artifact, plan, folder_, trial);
    return artifact.kind == Kind::final_model ? *trial.model_sha256 : trial.files.at(artifact.name);
  }
};

TEST_F(Artifacts, AFileMustBeWrittenByTheTrial) {
  const Artifact file{Kind::file, "model", folder_ / "model.npz", {}};
  const FileStamps without({file});
  EXPECT_EQ(without.first_not_written(),
            "every process succeeded, but none wrote model, " + file.path.string());
  write_file_atomically(file.path, "weights");
  EXPECT_EQ(without.first_not_written(), std::nullopt);
  const FileStamps with({file});
  EXPECT_EQ(with.first_not_written(), "every process succeeded, but none wrote model: " +
                                          file.path.string() + " is unchanged");
  write_file_atomically(file.path, "weights");
  EXPECT_EQ(with.first_not_written(), std::nullopt) << "equal bytes, but written anew";
}

TEST_F(Artifacts, EqualContentsAreKeptOnce) {
  const Artifact file{Kind::file, "model", folder_ / "model.npz", {}};
  write_file_atomically(file.path, "weights");
  const std::string sha256 = take(file);
  EXPECT_EQ(sha256, sha256_hex("weights"));
  EXPECT_EQ(take(file), sha256);
  write_file_atomically(file.path, "other weights");
  take(file);
  EXPECT_EQ(kept_artifact(folder_, file, "a", sha256).filename(),
            "model-" + sha256.substr(0, 12) + ".npz");
  EXPECT_EQ(read_file(kept_artifact(folder_, file, "a", sha256)), "weights");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "files"), {}), 2);
  EXPECT_TRUE(fs::exists(file.path)) << "cleanup may want it";
}

TEST_F(Artifacts, TheFinalModelIsKeptOfEachArm) {
  const Artifact model{Kind::final_model, kFinalModel, folder_ / "m.pt", {}};
  write_file_atomically(model.path, "weights");
  const std::string sha256 = take(model);
  const fs::path copy = kept_artifact(folder_, model, "a", sha256);
  EXPECT_EQ(copy, folder_ / "models" / ("a-" + sha256.substr(0, 12) + ".bin"));
  EXPECT_EQ(read_file(copy), "weights");
}

TEST_F(Artifacts, AFileThatCannotBeKeptIsAnError) {
  const Artifact file{Kind::file, "model", folder_ / "model.npz", {}};
  write_file_atomically(file.path, "weights");
  write_file_atomically(folder_ / "files", "in the way");
  EXPECT_EQ(error_of([&] { take(file); }).code(), ExitCode::io);
}

TEST_F(Artifacts, ASymlinkToAnOldFileIsNotWritten) {
  write_file_atomically(folder_ / "old", "weights");
  fs::last_write_time(folder_ / "old", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const Artifact file{Kind::file, "model", folder_ / "model.npz", {}};
  const FileStamps stamps({file});
  fs::create_symlink("old", file.path);
  EXPECT_THAT(stamps.first_not_written().value_or("all are new"),
              testing::HasSubstr("a symlink to a file from before the trial"));
  write_file_atomically(folder_ / "old", "new weights");
  EXPECT_EQ(stamps.first_not_written(), std::nullopt) << "what it leads to was written";
}

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
      "variants": [{"name": "before"}, {"name": "after", "append": {"job": ["--fast"]}}],
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
  EXPECT_EQ(result.warnings[1].message,
            "the trials of variant before wrote 2 different versions of model");
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
  EXPECT_THAT(result.warnings[0].message, testing::HasSubstr("did not print a number"));
}

}  // namespace
}  // namespace memduel
