#include "experiment/run/kept_files.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/sha256.h"
#include "experiment/config/test_support.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

using KeptFiles = TestFolder;

TEST_F(KeptFiles, AFileMustBeWrittenByTheTrial) {
  const TrialFile file{"model", folder_ / "model.npz"};
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

TEST_F(KeptFiles, EqualContentsAreKeptOnce) {
  const TrialFile file{"model", folder_ / "model.npz"};
  write_file_atomically(file.path, "weights");
  const std::string sha256 = keep_file(folder_, file);
  EXPECT_EQ(sha256, sha256_hex("weights"));
  EXPECT_EQ(keep_file(folder_, file), sha256);
  write_file_atomically(file.path, "other weights");
  keep_file(folder_, file);
  EXPECT_EQ(kept_file(folder_, "model", file.path, sha256).filename(),
            "model-" + sha256.substr(0, 12) + ".npz");
  EXPECT_EQ(read_file(kept_file(folder_, "model", file.path, sha256)), "weights");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "files"), {}), 2);
  EXPECT_TRUE(fs::exists(file.path)) << "cleanup may want it";
}

TEST_F(KeptFiles, AFileThatCannotBeKeptIsAnError) {
  const TrialFile file{"model", folder_ / "model.npz"};
  write_file_atomically(file.path, "weights");
  write_file_atomically(folder_ / "files", "in the way");
  EXPECT_EQ(error_of([&] { keep_file(folder_, file); }).code(), ExitCode::io);
}

TEST_F(KeptFiles, ASymlinkToAnOldFileIsNotWritten) {
  write_file_atomically(folder_ / "old", "weights");
  fs::last_write_time(folder_ / "old", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const TrialFile file{"model", folder_ / "model.npz"};
  const FileStamps stamps({file});
  fs::create_symlink("old", file.path);
  EXPECT_THAT(stamps.first_not_written().value_or("all are new"),
              testing::HasSubstr("a symlink to a file from before the trial"));
  write_file_atomically(folder_ / "old", "new weights");
  EXPECT_EQ(stamps.first_not_written(), std::nullopt) << "what it leads to was written";
}

}  // namespace
}  // namespace memduel
