#include "cbramod/checkpoint_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tuple>

#include "test_checkpoint_files.h"
#include "util/error.h"
#include "util/file.h"

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

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Tree : public testing::Test {
 protected:
  [[nodiscard]] CheckpointTree read(Subdirectories below = Subdirectories::enter) const {
    return read_checkpoints(root_, below);
  }
  /// Why `path` was left alone; empty when it was not.
  [[nodiscard]] static std::string why(const CheckpointTree& tree, const fs::path& path) {
    for (const LeftAlone& one : tree.left_alone)
      if (one.path == path) return one.why;
    return {};
  }

  ScratchDirectory scratch_{testing::TempDir(), "tree"};
  fs::path root_ = scratch_.path();
};

TEST_F(Tree, HoldsWhatTheNamesSay) {
  put_aged(root_ / "epoch3_acc_0.50000_kappa_0.25000.pth", 10, 1000);
  put_aged(root_ / "trial/1/epoch4_kappa_0.5.pth", 9, 500);
  const CheckpointTree tree = read();
  ASSERT_EQ(tree.directories.size(), 2U);
  EXPECT_EQ(tree.directories[0].below, "");
  EXPECT_EQ(tree.directories[1].below, "trial/1");
  const Checkpoint& first = tree.directories[0].checkpoints.at(0);
  EXPECT_EQ(first.epoch, 3);
  EXPECT_EQ(first.file.modified_ns, kTestNow - 10 * kDayNs);
  EXPECT_THAT(first.metrics, ElementsAre(Pair("acc", 0.5), Pair("kappa", 0.25)));
  EXPECT_EQ(checkpoint_count(tree), 2U);
  EXPECT_EQ(checkpoint_bytes(tree), 1500);
  EXPECT_EQ(checkpoint_count(read(Subdirectories::skip)), 1U);
}

TEST_F(Tree, ASidecarGivesAndCorrectsMetrics) {
  put_aged(root_ / "best.pth", 10);
  write_file_atomically(root_ / "best.pth.json", R"({"kappa": 0.7, "note": "text"})");
  put_aged(root_ / "epoch1_kappa_0.71235.pth", 10);
  write_file_atomically(root_ / "epoch1_kappa_0.71235.pth.json", R"({"kappa": 0.712346})");
  const CheckpointTree tree = read();
  ASSERT_EQ(checkpoint_count(tree), 2U);
  EXPECT_THAT(tree.directories[0].checkpoints[0].metrics, ElementsAre(Pair("kappa", 0.7)));
  EXPECT_EQ(bytes_of(tree.directories[0].checkpoints[0]), 130);
  EXPECT_THAT(tree.directories[0].checkpoints[1].metrics, ElementsAre(Pair("kappa", 0.712346)));
  EXPECT_TRUE(tree.left_alone.empty());
}

TEST_F(Tree, LeavesAloneWhatItDoesNotKnow) {
  put_aged(root_ / "pretrained_weights.pth", 100);
  put_aged(root_ / "notes.txt", 100);
  put_aged(root_ / "lost.pth.json", 100);
  fs::create_symlink("epoch1_kappa_0.5.pth", root_ / "epoch9_kappa_0.9.pth");
  fs::create_directory_symlink("/", root_ / "outside");
  ::mkfifo((root_ / "epoch2_kappa_0.1.pth").c_str(), 0600);
  const CheckpointTree tree = read();
  EXPECT_EQ(checkpoint_count(tree), 0U);
  EXPECT_EQ(tree.left_alone.size(), 6U);
  EXPECT_THAT(why(tree, "pretrained_weights.pth"), HasSubstr("neither a checkpoint name"));
  EXPECT_EQ(why(tree, "epoch9_kappa_0.9.pth"), "a symbolic link");
  EXPECT_EQ(why(tree, "outside"), "a symbolic link");
  EXPECT_EQ(why(tree, "epoch2_kappa_0.1.pth"), "not a regular file");
}

TEST_F(Tree, LeavesAloneACheckpointWithABrokenSidecar) {
  for (const char* name : {"epoch1_kappa_0.5.pth", "epoch2_kappa_0.5.pth", "epoch3_kappa_0.5.pth"})
    put_aged(root_ / name, 100);
  write_file_atomically(root_ / "epoch1_kappa_0.5.pth.json", "{\"kappa\": ");
  fs::create_symlink("epoch1_kappa_0.5.pth.json", root_ / "epoch2_kappa_0.5.pth.json");
  put_aged(root_ / "epoch3_kappa_0.5.pth.json", 100, 100'000);
  const CheckpointTree tree = read();
  EXPECT_EQ(checkpoint_count(tree), 0U);
  EXPECT_EQ(why(tree, "epoch1_kappa_0.5.pth"), "its sidecar is not a JSON object");
  EXPECT_EQ(why(tree, "epoch2_kappa_0.5.pth"), "its sidecar is not a regular file");
  EXPECT_THAT(why(tree, "epoch3_kappa_0.5.pth"), HasSubstr("File too large"));
}

TEST_F(Tree, AMissingDirectoryIsAnIoErrorThatNamesIt) {
  try {
    read_checkpoints(root_ / "absent", Subdirectories::enter);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.message(), HasSubstr((root_ / "absent").string() + ": cannot open"));
  }
}

TEST_F(Tree, IsReadToALimitedDepth) {
  fs::path deep = root_;
  for (int i = 0; i < 70; ++i) deep /= "d";
  put_aged(deep / "epoch1_kappa_0.5.pth", 1);
  const CheckpointTree tree = read();
  EXPECT_EQ(checkpoint_count(tree), 0U);
  ASSERT_EQ(tree.left_alone.size(), 1U);
  EXPECT_EQ(tree.left_alone[0].why, "a directory that is too deep");
}

}  // namespace
}  // namespace memduel
