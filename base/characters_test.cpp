#include "base/characters.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(EscapeTerminal, LetsNoEscapeSequenceThrough) {
  EXPECT_EQ(escape_terminal("a\x1B[31mb\r\nc\u009Bd\u202E"), "a [31mb  c d");
}

TEST(CountCharacters, CountsCodePoints) {
  EXPECT_EQ(count_characters("▼ größe"), 7u);
}

TEST(EscapeTerminalLines, KeepsLinesAndNothingElseThatCommandsATerminal) {
  EXPECT_EQ(escape_terminal_lines("one\n\x1b[31mtwo\a\nthree"), "one\n [31mtwo \nthree");
  EXPECT_EQ(escape_terminal_lines("\n\n"), "\n\n");
  EXPECT_EQ(escape_terminal_lines(""), "");
}

}  // namespace
}  // namespace memduel
