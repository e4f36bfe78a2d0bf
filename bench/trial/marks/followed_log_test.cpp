#include "experiment/marks/followed_log.h"

#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <fstream>
#include <vector>

#include "base/scratch_directory.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FollowedLogTest : public testing::Test {
 protected:
  void append(const std::string& text) const {
    std::ofstream(path_, std::ios::app | std::ios::binary) << text;
  }
  void rename_log() {
    std::filesystem::rename(path_, path_.string() + "." + std::to_string(++old_));
  }
  std::vector<std::string> read(FollowedLog& log, std::size_t max_bytes = 1 << 20) {
    lines_.clear();
    more_ = log.read([&](std::string_view line) { lines_.emplace_back(line); }, max_bytes);
    return lines_;
  }
  std::vector<std::string> finish(FollowedLog& log) {
    lines_.clear();
    log.finish([&](std::string_view line) { lines_.emplace_back(line); });
    return lines_;
  }

  ScratchDirectory scratch_{testing::TempDir(), "followed_log"};
  std::filesystem::path path_ = scratch_.path() / "job.log";
  Descriptor inotify_{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  std::vector<std::string> lines_;
  bool more_ = false;
  int old_ = 0;
};

TEST_F(FollowedLogTest, GivesLinesOnceTheyAreWhole) {
  FollowedLog log(path_, inotify_.get());
  EXPECT_THAT(read(log), IsEmpty());
  EXPECT_FALSE(log.was_seen());
  EXPECT_FALSE(log.is_watched());
  append("one\ntw");
  EXPECT_THAT(read(log), ElementsAre("one"));
  EXPECT_TRUE(log.is_watched());
  append("o\nthree");
  EXPECT_THAT(read(log), ElementsAre("two"));
  EXPECT_THAT(finish(log), ElementsAre("three"));
  EXPECT_EQ(log.lines(), 3);
}

TEST_F(FollowedLogTest, WhatWasThereBeforeIsPassedOver) {
  append("of an earlier run\n");
  FollowedLog log(path_, -1);
  append("now\n");
  EXPECT_THAT(read(log), ElementsAre("now"));
  EXPECT_FALSE(log.is_watched());
}

TEST_F(FollowedLogTest, SurvivesBeingCut) {
  FollowedLog log(path_, inotify_.get());
  append("one\ntwo\nhalf a line");
  EXPECT_THAT(read(log), ElementsAre("one", "two"));
  std::filesystem::resize_file(path_, 0);
  append("three\n");
  EXPECT_THAT(read(log), ElementsAre("three"));
}

TEST_F(FollowedLogTest, AWriterThatGoesOnBehindACutLeavesAHole) {
  FollowedLog log(path_, inotify_.get());
  const std::string before(300, 'x');
  append(before + "\n");
  EXPECT_THAT(read(log), ElementsAre(before));
  std::filesystem::resize_file(path_, 0);
  EXPECT_THAT(read(log), IsEmpty());
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(301);
  file << "after\n";
  file.close();
  EXPECT_THAT(read(log), ElementsAre("after"));
}

TEST_F(FollowedLogTest, SurvivesBeingRenamedAndMadeAnew) {
  FollowedLog log(path_, inotify_.get());
  append("one\n");
  EXPECT_THAT(read(log), ElementsAre("one"));
  std::ofstream writer(path_, std::ios::app);
  rename_log();
  EXPECT_THAT(read(log), IsEmpty());
  EXPECT_FALSE(log.is_watched());
  writer << "two, behind its back\nand a last half" << std::flush;
  append("three\n");
  EXPECT_THAT(read(log), ElementsAre("two, behind its back", "and a last half", "three"));
  EXPECT_TRUE(log.is_watched());
  rename_log();
  append("four\n");
  rename_log();
  EXPECT_THAT(finish(log), IsEmpty()) << "of two rotations between two looks the middle is lost";
}

TEST_F(FollowedLogTest, SurvivesBeingRemoved) {
  FollowedLog log(path_, inotify_.get());
  append("one\n");
  EXPECT_THAT(read(log), ElementsAre("one"));
  std::filesystem::remove(path_);
  EXPECT_THAT(read(log), IsEmpty());
  append("two\n");
  EXPECT_THAT(read(log), ElementsAre("two"));
}

TEST_F(FollowedLogTest, ReadsInBoundedPieces) {
  FollowedLog log(path_, inotify_.get());
  const std::string line(1023, 'x');
  for (int k = 0; k < 1000; ++k) append(line + "\n");
  std::size_t lines = read(log, 100'000).size();
  EXPECT_TRUE(more_);
  EXPECT_LT(lines, 200U);
  while (more_) lines += read(log, 100'000).size();
  EXPECT_EQ(lines, 1000U);
}

TEST_F(FollowedLogTest, AFifoOrADirectoryIsNoLog) {
  FollowedLog directory(scratch_.path(), inotify_.get());
  EXPECT_FALSE(directory.was_seen());
  const auto fifo = scratch_.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  FollowedLog log(fifo, inotify_.get());
  EXPECT_THAT(read(log), IsEmpty());
  EXPECT_FALSE(log.was_seen());
}

}  // namespace
}  // namespace memduel
