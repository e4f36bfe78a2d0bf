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

}  // namespace
}  // namespace memduel
