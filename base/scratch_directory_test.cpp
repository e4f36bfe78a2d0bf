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
