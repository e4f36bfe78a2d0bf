#include "training/held_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_directory.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Held : public testing::Test {
 protected:
  ScratchDirectory scratch_{testing::TempDir(), "held"};
  fs::path root_ = scratch_.path();
};

TEST_F(Held, ListsByNameWithKinds) {
  write_file_atomically(root_ / "b", "12345");
  fs::create_directory(root_ / "a");
  fs::create_symlink("b", root_ / "c");
  ::mkfifo((root_ / "d").c_str(), 0600);
  const auto entries = HeldDirectory(root_).entries();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].kind, EntryKind::directory);
  EXPECT_EQ(entries[1].kind, EntryKind::file);
  EXPECT_EQ(entries[1].bytes, 5);
  EXPECT_EQ(entries[2].kind, EntryKind::symbolic_link);
  EXPECT_EQ(entries[3].kind, EntryKind::other);
}

TEST_F(Held, ListsAsOftenAsAsked) {
  write_file_atomically(root_ / "f", "");
  const HeldDirectory directory(root_);
  EXPECT_EQ(directory.entries().size(), 1U);
  EXPECT_EQ(directory.entries().size(), 1U);
}

TEST_F(Held, ALinkInPlaceOfADirectoryIsRefused) {
  fs::create_directory(root_ / "real");
  fs::create_directory_symlink("real", root_ / "link");
  EXPECT_THROW(HeldDirectory(root_ / "link"), Error);
  EXPECT_THROW(std::ignore = HeldDirectory(root_).child("link"), Error);
  for (const char* name : {"link/", "link/.", "link//./", "./link"}) {
    try {
      const HeldDirectory followed(root_ / name);
      ADD_FAILURE() << "followed " << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr("found a symbolic link")) << name;
    }
  }
}

TEST_F(Held, IsWhereTheKernelResolvesTheNameTo) {
  fs::create_directories(root_ / "here/x");
  fs::create_directories(root_ / "there/x");
  fs::create_directory(root_ / "there/target");
  fs::create_directory_symlink("../there/target", root_ / "here/link");
  const fs::path there = fs::canonical(root_) / "there";
  EXPECT_EQ(HeldDirectory(root_ / "here/link/../x").location(), there / "x");
  EXPECT_EQ(HeldDirectory(root_ / "here/link/..").location(), there);
  EXPECT_EQ(HeldDirectory(root_ / "there/x/././/").location(), there / "x");
  EXPECT_EQ(HeldDirectory("/.").location(), "/");
  EXPECT_EQ(HeldDirectory(".").location(), fs::current_path());
}

TEST_F(Held, StaysTheSameWhenItsNameLeadsElsewhere) {
  fs::create_directories(root_ / "inside");
  fs::create_directories(root_ / "outside");
  write_file_atomically(root_ / "inside/f", "in");
  write_file_atomically(root_ / "outside/f", "out");
  const HeldDirectory directory(root_ / "inside");
  fs::rename(root_ / "inside", root_ / "moved");
  fs::create_directory_symlink("outside", root_ / "inside");
  directory.remove("f");
  EXPECT_TRUE(fs::exists(root_ / "outside/f"));
  EXPECT_FALSE(fs::exists(root_ / "moved/f"));
}

TEST_F(Held, ReadsSmallFilesOnlyAndNoLinks) {
  write_file_atomically(root_ / "f", "0123456789");
  fs::create_symlink("f", root_ / "link");
  const HeldDirectory directory(root_);
  EXPECT_EQ(directory.read("f", 10), "0123456789");
  EXPECT_THROW(std::ignore = directory.read("f", 9), Error);
  EXPECT_THROW(std::ignore = directory.read("link", 100), Error);
}

}  // namespace
}  // namespace memduel
