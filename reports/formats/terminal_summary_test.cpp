#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/characters.h"
#include "reports/formats/terminal.h"
#include "reports/testing/golden.h"
#include "reports/testing/sample_run.h"

namespace memduel {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Much of everything.
ReportModel large_model(bool hostile) {
  Sample sample = make_sample({.candidates = 6,
                               .rounds = 50,
                               .series = false,
                               .hostile = hostile,
                               .differences = true,
                               .snapshots = true,
                               .growth = true});
  for (int i = 0; i < 64; ++i) {
    sample.results.warnings.push_back({"w", "something weakens the claim in its own way", "look"});
    Comparison row = sample.results.comparisons.front();
    row.role = "client-" + std::to_string(i);
    sample.results.comparisons.push_back(row);
  }
  return build_report_model(sample.results, sample.run);
}

TEST(TerminalSummary, MatchesTheGoldenFile) {
  expect_golden("summary.txt", render_summary(sample_model({.snapshots = true})));
}

TEST(TerminalSummary, FitsItsLinesAndColumns) {
  for (const bool hostile : {false, true}) {
    const ReportModel model = large_model(hostile);
    for (const int width : {40, 80, 160}) {
      const auto lines = lines_of(render_summary(model, {.width = width}, 36));
      EXPECT_LE(lines.size(), 36U) << width;
      EXPECT_GE(lines.size(), 30U) << "lines that are free are used";
      if (hostile) continue;  // a word without spaces is not broken
      for (const std::string& line : lines)
        EXPECT_LE(count_characters(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(TerminalSummary, KeepsTheFailedGateWhateverHasToGo) {
  Sample sample = make_sample({.candidates = 6, .series = false, .snapshots = true});
  sample.results.gates.back().outcome = GateOutcome::failed;
  const std::string text = render_summary(build_report_model(sample.results, sample.run), {}, 12);
  EXPECT_THAT(text, testing::ContainsRegex("\\[gate[ \n]+failed\\]"));
  EXPECT_LE(lines_of(text).size(), 12U);
}

TEST(TerminalSummary, KeepsCausesBeforeWhatIsNotDecidedOfFurtherCandidates) {
  Sample sample = make_sample({.candidates = 6, .series = false, .snapshots = true});
  for (Comparison& row : sample.results.comparisons) row.verdict = Verdict::inconclusive;
  const ReportModel model = build_report_model(sample.results, sample.run);
  ASSERT_FALSE(model.causes.empty());
  const auto of_first =
      std::ranges::count(model.headlines, model.headlines[0].candidate, &Headline::candidate);
  for (int lines = 8; lines < 40; ++lines) {
    const std::vector<std::string> shown = lines_of(render_summary(model, {}, lines));
    const auto heading = std::ranges::find_if(
        shown, [](const std::string& line) { return line.starts_with("What changed most in "); });
    if (heading == shown.end()) {
      EXPECT_LE(std::ranges::count_if(
                    shown, [](const std::string& line) { return line.starts_with("? "); }),
                of_first)
          << lines;
    } else {
      EXPECT_THAT(*std::next(heading), HasSubstr(model.causes[0].amount)) << lines;
    }
  }
}

TEST(TerminalSummary, SaysHowToSeeTheRest) {
  EXPECT_EQ(lines_of(render_summary(sample_model({}))).back(), "Every table and note: --verbose.");
}

TEST(TerminalSummary, BreaksNoCommandThatIsToBeCopied) {
  ReportModel model = sample_model({});
  const std::string command =
      "memduel run '" + std::string(100, 'r') + " x/config.json' --repeats 9";
  model.next_step = Suggestion{"More blocks:", command};
  EXPECT_THAT(render_summary(model), HasSubstr("\n  " + command + "\n"));
  model.next_step.reset();
  model.results.warnings = {{"out_of_time", "the run ended", "go on with:\n  " + command}};
  EXPECT_THAT(render_summary(model), HasSubstr("advice: go on with:\n  " + command + "\n"));
}

TEST(TerminalSummary, HasColourOnlyWhereItIsAskedForAndNeverColourAlone) {
  const ReportModel model = sample_model({.series = false});
  EXPECT_THAT(render_summary(model), testing::Not(HasSubstr("\033")));
  const std::string colored = render_summary(model, {.color = true});
  EXPECT_THAT(colored, HasSubstr("\033[32m▼ optimized"));
}

}  // namespace
}  // namespace memduel
