#include "experiment/marks/log_tail.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_directory.h"

namespace memduel {
namespace {

std::string tail_of(const std::string& text, std::size_t lines, std::size_t bytes) {
  const ScratchDirectory scratch(testing::TempDir(), "log_tail");
  const std::filesystem::path path = scratch.path() / "log";
  std::ofstream(path, std::ios::binary) << text;
  return log_tail(path, lines, bytes);
}

TEST(LogTail, GivesTheLastLines) {
  EXPECT_EQ(tail_of("one\ntwo\nthree\n", 2, 100), "two\nthree");
  EXPECT_EQ(tail_of("one\ntwo\nthree", 9, 100), "one\ntwo\nthree");
  EXPECT_EQ(tail_of("one", 1, 100), "one");
  EXPECT_EQ(tail_of("\n\n\n", 3, 100), "");
  EXPECT_EQ(tail_of("a\n\nb\n", 2, 100), "\nb");
}

TEST(LogTail, IsBoundedInBytes) {
  EXPECT_EQ(tail_of(std::string(5000, 'x'), 9, 16).size(), 16U);
}

TEST(LogTail, HidesControlBytesFromTheTerminal) {
  EXPECT_EQ(tail_of("red \x1b[31m\tü\n", 1, 100), "red ?[31m\tü");
}

TEST(LogTail, OfAMissingFileIsEmpty) {
  EXPECT_EQ(log_tail("/nonexistent/log"), "");
}

TEST(LogTail, BytesThatAreNotUtf8AndCharactersCutInTwoAreReplaced) {
  EXPECT_EQ(tail_of("caf\xe9 noir", 9, 100), "caf\xEF\xBF\xBD noir");
  EXPECT_EQ(tail_of("\xc3\xa9x", 9, 2), "\xEF\xBF\xBDx");
}

}  // namespace
}  // namespace memduel
