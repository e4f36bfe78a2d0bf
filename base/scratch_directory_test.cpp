#include "base/scratch_directory.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"

namespace memduel {
namespace {

TEST(ScratchDirectory, IsGoneWithAllItHolds) {
  std::filesystem::path path;
  {
    const ScratchDirectory scratch(::testing::TempDir(), "scratch-test");
    path = scratch.path();
    EXPECT_TRUE(path.is_absolute());
    write_file_atomically(path / "file", "bytes");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchDirectory, OfAnOwnerThatWasKilledIsFound) {
  const ScratchDirectory parent(::testing::TempDir(), "scratch-parent");
  const ScratchDirectory own(parent.path(), "job");
  const ScratchDirectory other(parent.path(), "jobs");
  std::filesystem::create_directory(parent.path() / "job-killed");
  std::filesystem::create_symlink(own.path(), parent.path() / "job-symlink");
  write_file_atomically(parent.path() / "job-file", "no directory");
  EXPECT_EQ(abandoned_scratch(parent.path(), "job"),
            std::vector<std::filesystem::path>{parent.path() / "job-killed"});
  EXPECT_TRUE(abandoned_scratch(parent.path() / "missing", "job").empty());
}

TEST(ScratchDirectory, AMissingParentIsNamed) {
  try {
    const ScratchDirectory scratch("/nonexistent-parent", "scratch-test");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_EQ(error.where(), "/nonexistent-parent");
  }
}

}  // namespace
}  // namespace memduel
