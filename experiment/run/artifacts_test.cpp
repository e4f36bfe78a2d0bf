#include "experiment/run/artifacts.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/sha256.h"
#include "experiment/config/test_support.h"

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
            "every process ended well, but none wrote model, " + file.path.string());
  write_file_atomically(file.path, "weights");
  EXPECT_EQ(without.first_not_written(), std::nullopt);
  const FileStamps with({file});
  EXPECT_EQ(with.first_not_written(), "every process ended well, but none wrote model: " +
                                          file.path.string() + " is as it was before");
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

}  // namespace
}  // namespace memduel
