#include "reports/escape.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(ValidUtf8, ReplacesEachByteThatIsNotPartOfACharacter) {
  EXPECT_EQ(valid_utf8("a\xFF"
                       "b"),
            "a\uFFFDb");
  EXPECT_EQ(valid_utf8("\xC3"), "\uFFFD");                      // cut short
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong slash
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(valid_utf8("größe € \U0001F600"), "größe € \U0001F600");
}

TEST(EscapeMarkup, LeavesNothingThatStartsATagAnEntityOrAnAttribute) {
  EXPECT_EQ(escape_markup("<script a='1' b=\"2\">&"),
            "&lt;script a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;");
}

TEST(EscapeMarkup, ReplacesControlCharactersThatXmlForbids) {
  EXPECT_EQ(escape_markup(std::string_view("a\0b\x1B\n", 5)), "a\uFFFDb\uFFFD\n");
}

TEST(EscapeMarkdown, ShowsMarkupAsTextOnOneLine) {
  EXPECT_EQ(escape_markdown("[a](b) | `c` *d* <e>\n@user #1"),
            "\\[a\\](b) \\| \\`c\\` \\*d\\* &lt;e&gt; &#64;user \\#1");
}

TEST(EscapeMarkdown, DropsMarksThatReorderText) {
  EXPECT_EQ(escape_markdown("a\u202Eb\u2066c"), "abc");
}

TEST(EscapeTerminal, LetsNoEscapeSequenceThrough) {
  EXPECT_EQ(escape_terminal("a\x1B[31mb\r\nc\u009Bd\u202E"), "a [31mb  c d");
}

TEST(EscapeCsv, QuotesSeparatorsAndDisarmsFormulas) {
  EXPECT_EQ(escape_csv("plain"), "plain");
  EXPECT_EQ(escape_csv("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
  EXPECT_EQ(escape_csv("=SUM(A1)"), "'=SUM(A1)");
}

TEST(CountCharacters, CountsCodePoints) {
  EXPECT_EQ(count_characters("▼ größe"), 7u);
}

}  // namespace
}  // namespace memduel
