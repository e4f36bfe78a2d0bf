#include "util/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "util/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(dir_); }
  void TearDown() override { fs::remove_all(dir_); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(dir_))
      found.push_back(entry.path().filename().string());
    return found;
  }
  fs::path dir_ = fs::path(testing::TempDir()) / ("memduel_file_" + std::to_string(::getpid()));
};

TEST_F(File, ReadsBackWhatWasWritten) {
  const std::string bytes("a\0b\n", 4);
  write_file_atomically(dir_ / "f", bytes);
  EXPECT_EQ(read_file(dir_ / "f"), bytes);
}

TEST_F(File, OneThatIsMissingOrCannotBeIsAnIoErrorThatNamesIt) {
  for (const fs::path& path : {dir_ / "absent", dir_ / std::string(300, 'x')}) {
    try {
      read_file(path);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::io);
      EXPECT_EQ(error.where(), path.string());
    }
  }
}

TEST_F(File, AFailedWriteLeavesTheOldBytesAndNoTemporary) {
  fs::create_directories(dir_ / "target");  // a directory cannot be replaced by a file
  EXPECT_THROW(write_file_atomically(dir_ / "target", "x"), Error);
  EXPECT_TRUE(fs::is_directory(dir_ / "target"));
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

TEST_F(File, WhatIsNotFinishedLeavesTheOldBytesAndNoTemporary) {
  write_file_atomically(dir_ / "f", "old");
  {
    AtomicFile file(dir_ / "f");
    file.write("new");
  }
  EXPECT_EQ(read_file(dir_ / "f"), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"f"});
}

TEST_F(File, ADeviceStaysADevice) {
  write_named_file("/dev/null", "lost");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(File, APipeIsWrittenThrough) {
  const fs::path pipe = dir_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_file(pipe); });
  write_named_file(pipe, "through");
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(File, InSharedMemoryIsReplaced) {
  const fs::path file = fs::path("/dev/shm") / dir_.filename();
  write_named_file(file, "the first, which is longer");
  write_named_file(file, "second");
  EXPECT_EQ(read_file(file), "second");
  fs::remove(file);
}

TEST_F(File, ThatIsOpenKeepsWhatOthersWroteToIt) {
  write_file_atomically(dir_ / "log", "earlier\n");
  const Descriptor log(::open((dir_ / "log").c_str(), O_WRONLY));
  write_named_file("/proc/self/fd/" + std::to_string(log.get()), "later\n");
  EXPECT_EQ(read_file(dir_ / "log"), "earlier\nlater\n");
}

TEST_F(File, ASymlinkStaysOneAndItsFileIsReplaced) {
  fs::create_directories(dir_ / "there");
  write_file_atomically(dir_ / "there/file", "old");
  fs::create_symlink("there/file", dir_ / "link");
  write_named_file(dir_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(read_file(dir_ / "there/file"), "new");
}

TEST_F(File, ASymlinkInThePlaceOfAnOwnFileIsReplacedAndNotFollowed) {
  write_file_atomically(dir_ / "victim", "whole");
  fs::create_symlink("victim", dir_ / "link");
  write_file_atomically(dir_ / "link", "new");
  EXPECT_FALSE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(read_file(dir_ / "link"), "new");
  EXPECT_EQ(read_file(dir_ / "victim"), "whole");
}

TEST_F(File, APlantedTemporaryIsNotFollowedAndAUsersOwnIsKept) {
  write_file_atomically(dir_ / "victim", "whole");
  fs::create_symlink("victim", dir_ / "f.part");
  write_file_atomically(dir_ / "g.part", "a user's own");
  write_file_atomically(dir_ / "f", "new");
  write_file_atomically(dir_ / "g", "new");
  EXPECT_EQ(read_file(dir_ / "victim"), "whole");
  EXPECT_EQ(read_file(dir_ / "g.part"), "a user's own");
}

TEST_F(File, IsWrittenInPieces) {
  AtomicFile file(dir_ / "f");
  file.write("one, ");
  file.write("two");
  EXPECT_FALSE(fs::exists(dir_ / "f"));
  file.finish();
  EXPECT_EQ(read_file(dir_ / "f"), "one, two");
  EXPECT_EQ(names(), std::vector<std::string>{"f"});
}

TEST_F(File, APrivateOneIsForItsOwnersEyes) {
  write_private_file(dir_ / "f", "token");
  EXPECT_EQ(fs::status(dir_ / "f").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(File, OneThatNeverEndsIsRefused) {
  EXPECT_THROW(read_file_of_at_most("/dev/zero", 1 << 20), Error);
  write_file_atomically(dir_ / "f", std::string(1 << 20, 'x'));
  EXPECT_EQ(read_file_of_at_most(dir_ / "f", 1 << 20).size(), 1U << 20);
  EXPECT_THROW(read_file_of_at_most(dir_ / "f", (1 << 20) - 1), Error);
}

TEST_F(File, ADevicesBytesDoNotFillTheMemory) {
  EXPECT_THROW(read_file("/dev/zero"), Error);
  EXPECT_EQ(read_file("/dev/null"), "");
}

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

TEST(UnnamedFile, HoldsWhatIsWrittenAndLeavesNothing) {
  const ScratchDirectory place(::testing::TempDir(), "unnamed");
  const Descriptor file = unnamed_file(place.path());
  const std::string text(300'000, 'x');
  ASSERT_TRUE(write_all(file.get(), text));
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), static_cast<off_t>(text.size()));
  EXPECT_TRUE(std::filesystem::is_empty(place.path()));
  EXPECT_FALSE(unnamed_file(place.path() / "nowhere"));
  EXPECT_EQ(errno, ENOENT);
}

TEST(WriteAll, TellsWhenItCannot) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(write_all(full.get(), "text"));
  EXPECT_EQ(errno, ENOSPC);
}

TEST(UserDirectories, FollowTheXdgVariablesAndIgnoreRelativePaths) {
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  const auto set = [](const char* variable, const char* value) { ::setenv(variable, value, 1); };
  set("HOME", "/home/one");
  set("XDG_CACHE_HOME", "/c");
  set("XDG_STATE_HOME", "/s");
  EXPECT_EQ(cache_directory(), "/c/memduel");
  EXPECT_EQ(state_directory(), "/s/memduel");
  set("XDG_CACHE_HOME", "c");
  set("XDG_STATE_HOME", "");
  EXPECT_EQ(cache_directory(), "/home/one/.cache/memduel");
  EXPECT_EQ(state_directory(), "/home/one/.local/state/memduel");
  ::unsetenv("HOME");
  EXPECT_EQ(cache_directory(), std::nullopt);
  EXPECT_EQ(state_directory(), std::nullopt);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("XDG_STATE_HOME");
  set("HOME", home.c_str());
}

}  // namespace
}  // namespace memduel
