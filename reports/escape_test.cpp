#include "escape.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

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

TEST(EscapeCsv, QuotesSeparatorsAndDisarmsFormulas) {
  EXPECT_EQ(escape_csv("plain"), "plain");
  EXPECT_EQ(escape_csv("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
  EXPECT_EQ(escape_csv("=SUM(A1)"), "'=SUM(A1)");
}

}  // namespace
}  // namespace memduel
