#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <fstream>
#include <vector>

#include "trial/marks.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines_of(const std::string& text, std::size_t piece = SIZE_MAX) {
  std::vector<std::string> found;
  const auto take = [&](std::string_view line) { found.emplace_back(line); };
  TextLines lines;
  for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size())) {
    lines.feed(std::string_view(text).substr(at, piece), take);
  }
  lines.finish(take);
  EXPECT_EQ(lines.count(), static_cast<std::int64_t>(found.size()));
  return found;
}

TEST(TextLines, AreTheSameHoweverTheBytesArrive) {
  const std::string text("one\ntwo\r\n\n\nthree\rfour\n\0\0five\nsix", 32);
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_THAT(lines_of(text, piece), ElementsAre("one", "two", "three", "four", "five", "six"))
        << piece;
  }
}

TEST(TextLines, AProgressBarIsALinePerStep) {
  EXPECT_THAT(lines_of("\r 33%|###       | 1/3\r 67%|######    | 2/3\r100%|##########| 3/3\n"),
              ElementsAre(" 33%|###       | 1/3", " 67%|######    | 2/3", "100%|##########| 3/3"));
}

TEST(TextLines, OfALongLineItsBeginIsKept) {
  const std::string begin(TextLines::kLongestLine, 'x');
  const std::string text = begin + std::string(1000, 'y') + "\nnext\n";
  for (const std::size_t piece : {std::size_t{1000}, text.size()}) {
    EXPECT_THAT(lines_of(text, piece), ElementsAre(begin, "next"));
  }
}

TEST(TextLines, ARestartForgetsTheBeginOfALine) {
  std::vector<std::string> found;
  const auto take = [&](std::string_view line) { found.emplace_back(line); };
  TextLines lines;
  lines.feed("half a li", take);
  lines.restart();
  lines.feed("whole\n", take);
  EXPECT_THAT(found, ElementsAre("whole"));
}

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
