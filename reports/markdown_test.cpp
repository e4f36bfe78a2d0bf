#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "reports/text_formats.h"
#include "test_golden.h"
#include "test_sample_run.h"

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

TEST(MarkdownReport, HasAtMostTwentyLinesBeforeTheFoldedTable) {
  for (const int candidates : {0, 1, 5})
    for (const bool differences : {false, candidates > 0}) {
      const std::string head = before_the_table(
          markdown_of({.candidates = candidates, .series = false, .differences = differences}));
      EXPECT_LE(std::ranges::count(head, '\n'), 20) << head;
      EXPECT_THAT(head, HasSubstr("\nReproduce: `memduel run"));
    }
}

TEST(MarkdownReport, DrawsEveryTrialOfTheFirstGatesRow) {
  const std::string text = markdown_of({.series = false});
  // Peaks above idle of 454, 455 and 456 MiB by block, in the last of 48 columns; of the candidate
  // 214 to 216, which are 22.1 to 22.3 columns behind the first.
  EXPECT_THAT(text,
              HasSubstr("server memory above idle at its peak, 0 to 456.0 MiB: a dot for each "
                        "run\n"
                        "original         |" +
                        std::string(47, ' ') + "●\n" + "optimized        |" + std::string(22, ' ') +
                        "●\n```\n"));
}

TEST(MarkdownReport, ShowsNoIntervalWithAnOpenEnd) {
  Sample sample = make_sample({});
  sample.results.comparisons.front().ci_high.reset();
  const std::string text = render_markdown(build_report_model(sample.results, sample.run));
  EXPECT_THAT(text, Not(HasSubstr("to - |")));
  EXPECT_THAT(text, HasSubstr("| −33.3% | - | improved |"));
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

TEST(MarkdownReport, OfManyRowsIsShortEnoughForGitHubAndSaysWhatItLeavesOut) {
  Sample sample = make_sample({.candidates = 5, .series = false, .differences = true});
  const std::string long_name(10'000, 'x');
  for (int i = 0; i < 100; ++i)
    for (const Comparison& c : make_sample({.series = false}).results.comparisons) {
      sample.results.comparisons.push_back(c);
      sample.results.comparisons.back().gate = false;
      sample.results.comparisons.back().metric = long_name;
    }
  sample.results.warnings[0].message = long_name;
  const std::string text = render_markdown(build_report_model(sample.results, sample.run));
  EXPECT_LE(text.size(), 65'536u);
  EXPECT_THAT(text, testing::ContainsRegex("<summary>[0-9]+ of 1260 rows</summary>"));
  EXPECT_THAT(text, HasSubstr("rows are left out here; report.html has all."));
  EXPECT_THAT(text, HasSubstr("Where it differs, stack by stack"));
}

TEST(MarkdownReport, PutsFailedGatesFirstAndFoldsWhatAllCandidatesShare) {
  Sample sample = make_sample({.candidates = 3, .series = false});
  sample.results.gates[2].outcome = GateOutcome::failed;
  const std::string head =
      before_the_table(render_markdown(build_report_model(sample.results, sample.run)));
  std::istringstream lines(head);
  std::vector<std::string> first(5);
  for (std::string& line : first) std::getline(lines, line);
  EXPECT_THAT(first[3], HasSubstr("(gate failed)"));
  EXPECT_THAT(first[4], HasSubstr("server memory above idle at its peak, against original: "));
  EXPECT_THAT(first[4], HasSubstr("optimized 53% LESS (455.0 → 215.0 MiB, 52.5–53.0%, 8 blocks)"));
  EXPECT_THAT(head, HasSubstr("\n- ✅ whole-job memory at its peak, against original: "
                              "candidate-3 48% LESS (1.47 GiB → 785.0 MiB, "))
      << "the job has more clients than the gates ask about";
  EXPECT_THAT(head, HasSubstr("; the same model; "));
}

TEST(MarkdownReport, FoldsManyGatesWithoutASentence) {
  Sample sample = make_sample({.series = false});
  for (int i = 0; i < 20; ++i) {
    GateResult& gate = sample.results.gates.emplace_back();
    gate.gate = "server.peak_rss_bytes<=900MiB";
    gate.candidate = "optimized";
    gate.outcome = i < 5 ? GateOutcome::passed : GateOutcome::inconclusive;
  }
  const std::string head =
      before_the_table(render_markdown(build_report_model(sample.results, sample.run)));
  EXPECT_THAT(head, HasSubstr("\n- 20 more gates: 5 passed, 15 inconclusive\n"));
  EXPECT_THAT(head, HasSubstr("bit-identical"));
}

TEST(MarkdownReport, SaysBeforeTheFoldWhatWasComparedWhatChangedMostAndWhatToDo) {
  Sample sample = make_sample({.series = false, .differences = true});
  sample.run.config = document_of_run(nlohmann::json::parse(R"({
    "workload": {"processes": [{"role": "command", "argv": ["./old", "a`b"]}]},
    "variants": [{"name": "original"}, {"name": "optimized", "argv": {"command": ["./new"]}}]})"));
  const std::string head =
      before_the_table(render_markdown(build_report_model(sample.results, sample.run)));
  EXPECT_THAT(head, HasSubstr("**\n- original: `./old 'a'b'`; optimized: `./new`\n- "));
  EXPECT_THAT(head, HasSubstr("- What changed most in server heap at its peak, by profile "
                              "trials: ▼ −200.0 MiB ± 4.00 MiB "
                              "clone for aggregate; ▲ +20.0 MiB stage for serve\n"
                              "- What next: "));
}

TEST(MarkdownReport, SaysWhereTheMemoryDiffers) {
  const std::string text = markdown_of({.series = false, .differences = true});
  EXPECT_THAT(text, HasSubstr("#### Where: server at its peak"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "| −200.0 MiB ± 4.00 MiB | 91% | clone | aggregate ← serve ← main | aggregate |\n"));
  EXPECT_THAT(text, HasSubstr("From profile trials; 2.9% of the bytes of both could not be "
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
