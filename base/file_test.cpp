#include "base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(dir_); }
  void TearDown() override { fs::remove_all(dir_); }
  fs::path dir_ = fs::path(testing::TempDir()) / ("memduel_file_" + std::to_string(::getpid()));
};

TEST_F(File, ReadsBackWhatWasWritten) {
  const std::string bytes("a\0b\n", 4);
  write_file_atomically(dir_ / "f", bytes);
  EXPECT_EQ(read_file(dir_ / "f"), bytes);
}

TEST_F(File, MissingFileIsAnIoErrorThatNamesIt) {
  try {
    read_file(dir_ / "absent");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_EQ(error.where(), (dir_ / "absent").string());
  }
}

TEST_F(File, AFailedWriteLeavesTheOldBytesAndNoTemporary) {
  fs::create_directories(dir_ / "target");  // a directory cannot be replaced by a file
  EXPECT_THROW(write_file_atomically(dir_ / "target", "x"), Error);
  EXPECT_TRUE(fs::is_directory(dir_ / "target"));
  EXPECT_FALSE(fs::exists(dir_ / "target.part"));
}

TEST_F(File, WhatIsNotFinishedLeavesTheOldBytesAndNoTemporary) {
  write_file_atomically(dir_ / "f", "old");
  {
    AtomicFile file(dir_ / "f");
    file.write("new");
  }
  EXPECT_EQ(read_file(dir_ / "f"), "old");
  EXPECT_FALSE(fs::exists(dir_ / "f.part"));
}

TEST_F(File, IsWrittenInPieces) {
  AtomicFile file(dir_ / "f");
  file.write("one, ");
  file.write("two");
  EXPECT_FALSE(fs::exists(dir_ / "f"));
  file.finish();
  EXPECT_EQ(read_file(dir_ / "f"), "one, two");
  EXPECT_FALSE(fs::exists(dir_ / "f.part"));
}

}  // namespace
}  // namespace memduel
