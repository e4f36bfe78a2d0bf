#include "experiment/marks/text_lines.h"

#include <gmock/gmock.h>

#include <vector>

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

}  // namespace
}  // namespace memduel
