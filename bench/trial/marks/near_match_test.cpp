#include "near_match.h"

#include <gtest/gtest.h>

#include "util/file.h"

namespace memduel {
namespace {

class NearMatch : public testing::Test {
 protected:
  std::string of(const std::string& pattern, const std::string& text) const {
    write_file_atomically(log_, text);
    return near_match(log_, pattern);
  }

  ScratchDirectory scratch_{std::filesystem::temp_directory_path(), "near-match"};
  std::filesystem::path log_ = scratch_.path() / "log";
};

TEST_F(NearMatch, NamesTheLineThatMatchesTheLongestPartOfThePattern) {
  EXPECT_EQ(
      of(R"(\[ROUND (?<round>\d+)/\d+\])", "INFO: started\nINFO: [ROUND 1]\nINFO: done\n"),
      R"(the nearest line is "INFO: [ROUND 1]", which matches as far as \[ROUND (?<round>\d+))");
  EXPECT_EQ(of(R"(Round (?<round>\d+) started)", "Round one started\n"),
            R"(the nearest line is "Round one started", which matches as far as Round )");
}

TEST_F(NearMatch, NamesWhatKeepsTheWholePatternFromMatching) {
  EXPECT_EQ(of(R"(Round (\d+))", "ROUND 1\n"),
            R"(it matches "ROUND 1" if case is ignored: begin the pattern with (?i))");
  EXPECT_EQ(of(R"(^Round (\d+))", "INFO Round 1\n"), R"(without ^ it matches "INFO Round 1")");
  EXPECT_EQ(of(R"(Round (\d+))", std::string("R\0o\0u\0n\0d\0 \0001\0\n\0", 16)),
            "the log has NUL characters, as UTF-16 has; make the program write UTF-8");
}

TEST_F(NearMatch, DoesNotBlameThePatternForALineThatItMatches) {
  EXPECT_EQ(of(R"(Round (\d+))", "Round 1\n"),
            "it matches a line that is not of this trial, or that is too long");
}

TEST_F(NearMatch, DoesNotSearchOnWithAPatternThatTakesTooManySteps) {
  std::string lines;
  for (int line = 0; line < 400; ++line) lines += std::string(60, 'a') + " b\n";
  EXPECT_EQ(of(R"(^(a+)+c Round (\d+)$)", lines).substr(0, 19), "the nearest line is");
}

TEST_F(NearMatch, ShowsTheLastLinesWhereNoneIsNear) {
  EXPECT_EQ(of(R"(Round (\d+))", "a\nb\nc\nd\n"), R"(the last lines are "b", "c", "d")");
  EXPECT_EQ(of(R"(Round (\d+))", ""), "");
}

}  // namespace
}  // namespace memduel
