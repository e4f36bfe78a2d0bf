#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports/text_formats.h"
#include "test_golden.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string markdown_of(const SampleOptions& options) {
  return render_markdown(sample_document(options));
}

std::string markdown_of(const Sample& sample) {
  return render_markdown(document_of(build_report_model(sample.results, sample.run)));
}

std::string before_the_details(const std::string& text) {
  return text.substr(0, text.find("<details>"));
}

TEST(MarkdownReport, MatchesTheGoldenFile) {
  expect_golden("markdown.md", markdown_of({.series = false}));
}

TEST(MarkdownReport, BeginsWithTheAnswerAndTheTable) {
  const std::string head = before_the_details(markdown_of({.series = false}));
  EXPECT_THAT(head, HasSubstr("### ✅ PASS: optimized uses 39.7% less memory"));
  EXPECT_THAT(head, HasSubstr("| &emsp; server | 605.0 MiB | 365.0 MiB | −39.7%"));
  EXPECT_LE(std::ranges::count(head, '\n'), 30) << head;
}

TEST(MarkdownReport, NestsNoFold) {
  const std::string text = markdown_of({.blocks = 6, .ablation = true, .differences = true});
  size_t depth = 0;
  std::istringstream lines(text.substr(text.find("<details>")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<details>")) ++depth;
    EXPECT_LE(depth, 1U) << line;
    if (line == "</details>") --depth;
  }
}

TEST(MarkdownReport, OfManyRowsIsShortEnoughForGitHubAndNamesWhatItLeavesOut) {
  Sample sample = make_sample({.candidates = 5, .series = false, .differences = true});
  const std::string long_name(10'000, 'x');
  for (int i = 0; i < 100; ++i)
    for (const Comparison& c : make_sample({.series = false}).results.comparisons) {
      sample.results.comparisons.push_back(c);
      sample.results.comparisons.back().metric = long_name + std::to_string(i);
    }
  sample.results.warnings[0].message = long_name;
  const std::string text = markdown_of(sample);
  EXPECT_LE(text.size(), 65'536U);
  EXPECT_THAT(text, HasSubstr("HTML report"));
}

TEST(MarkdownReport, StatesWhatWasComparedAndWhyBeforeTheFold) {
  Sample sample = make_sample({.series = false, .differences = true});
  sample.run.config = document_of_run(nlohmann::json::parse(R"({
    "workload": {"processes": [{"role": "command", "argv": ["./old", "a`b"]}]},
    "variants": [{"name": "original"}, {"name": "optimized", "argv": {"command": ["./new"]}}]})"));
  const std::string head = before_the_details(markdown_of(sample));
  EXPECT_THAT(head,
              HasSubstr("- **original** (baseline): `./old 'a'b'`\n- **optimized**: `./new`\n"));
  EXPECT_THAT(head, HasSubstr("**Why**"));
  EXPECT_THAT(head, HasSubstr("clone, called from aggregate"));
}

TEST(MarkdownReport, StartsWithAMarkerThatNothingCanEndEarly) {
  const std::string text = markdown_of({.series = false, .hostile = true});
  const std::string marker = text.substr(0, text.find('\n'));
  EXPECT_THAT(marker, StartsWith("<!-- memduel:"));
  EXPECT_EQ(marker.find("-->"), marker.size() - 3);
}

TEST(MarkdownReport, ShowsHostileTextAsText) {
  const std::string text =
      markdown_of({.series = false, .hostile = true, .differences = true, .snapshots = true});
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("[a](")));
  EXPECT_THAT(text, Not(HasSubstr("@user")));
}

}  // namespace
}  // namespace memduel
