#include "reports/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports/testing/golden.h"
#include "reports/testing/sample_run.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string markdown_of(const SampleOptions& options) {
  const Sample sample = make_sample(options);
  return render_markdown(build_report_model(sample.results, sample.run));
}

std::string before_the_table(const std::string& text) {
  return text.substr(0, text.find("<details>"));
}

TEST(MarkdownReport, MatchesTheGoldenFile) {
  expect_golden("markdown.md", markdown_of({}));
}

TEST(MarkdownReport, HasAtMostFifteenLinesBeforeTheFoldedTable) {
  for (const int candidates : {0, 1, 5})
    for (const bool differences : {false, candidates > 0}) {
      const std::string head = before_the_table(
          markdown_of({.candidates = candidates, .series = false, .differences = differences}));
      EXPECT_LE(std::count(head.begin(), head.end(), '\n'), 15) << head;
      EXPECT_THAT(head, HasSubstr("\nReproduce: `memduel run"));
    }
}

TEST(MarkdownReport, UnfoldsNothingElse) {
  const std::string text = markdown_of({.blocks = 6, .ablation = true, .differences = true});
  size_t depth = 0;
  std::istringstream lines(text.substr(text.find("<details>")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<details>")) ++depth;
    EXPECT_TRUE(line.empty() || depth == 1) << line;
    if (line == "</details>") --depth;
  }
}

TEST(MarkdownReport, NamesTheTopStacksBeforeTheFold) {
  const std::string head = before_the_table(markdown_of({.series = false, .differences = true}));
  EXPECT_THAT(head, HasSubstr("- server: LESS (−200.0 MiB ± 4.00 MiB), 91 % of what differs, phase "
                              "aggregate, in clone(State) (profile trial)\n"
                              "- server: MORE (+20.0 MiB), 9.1 % of what differs, in stage(Path "
                              "const&amp;) (profile trial)\n"));
}

TEST(MarkdownReport, SaysWhereTheMemoryDiffers) {
  const std::string text = markdown_of({.series = false, .differences = true});
  EXPECT_THAT(text, HasSubstr("#### Where: server at its peak"));
  EXPECT_THAT(text,
              HasSubstr("| −200.0 MiB ± 4.00 MiB | 91 % | clone(State) | aggregate(State&amp;) ← "
                        "serve() ← main | aggregate |\n"));
  EXPECT_THAT(text, HasSubstr("From profile trials; 2.9 % of the bytes of both could not be "
                              "matched"));
  const std::string hostile = markdown_of({.series = false, .hostile = true, .differences = true});
  EXPECT_THAT(hostile, Not(HasSubstr("<script")));
}

TEST(MarkdownReport, StartsWithAMarkerThatNothingCanEndEarly) {
  const std::string text = markdown_of({.series = false, .hostile = true});
  const std::string marker = text.substr(0, text.find('\n'));
  EXPECT_THAT(marker, StartsWith("<!-- memduel:"));
  EXPECT_EQ(marker.find("-->"), marker.size() - 3);
}

TEST(MarkdownReport, ShowsHostileTextAsText) {
  const std::string text = markdown_of({.series = false, .hostile = true});
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("[a](")));
  EXPECT_THAT(text, Not(HasSubstr("@user")));
}

}  // namespace
}  // namespace memduel
