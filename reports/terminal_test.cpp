#include "reports/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "terminal_tables.h"
#include "test_golden.h"
#include "test_sample_run.h"
#include "util/text.h"

namespace memduel {
namespace {

TEST(TerminalReport, MatchesTheGoldenFile) {
  expect_golden("terminal.txt", render_terminal(sample_model({})));
}

TEST(TerminalReport, LeavesOutRowsWithoutValues) {
  ReportModel model = sample_model({});
  const auto shown = [&] {
    const std::string text = render_terminal(model);
    return text.find("\nserver    peak_rss_bytes ") != std::string::npos;
  };
  ASSERT_TRUE(shown());
  for (Comparison& row : model.results.comparisons) {
    if (row.role != "server" || row.metric != "peak_rss_bytes") continue;
    row.candidate_median.reset();
    EXPECT_TRUE(shown()) << "the candidate died";
    row.baseline_median.reset();
    EXPECT_FALSE(shown());
  }
}

TEST(HeadlineLines, PointWhereTheNumberWent) {
  Headline headline;
  headline.verdict = Verdict::improved;
  headline.more = true;
  EXPECT_TRUE(headline_lines(headline, {}).starts_with("▲"));
  headline.verdict = Verdict::changed;
  EXPECT_TRUE(headline_lines(headline, {.color = true}).starts_with("▲")) << "without a color";
  headline.verdict = Verdict::regressed;
  headline.more = false;
  EXPECT_TRUE(headline_lines(headline, {}).starts_with("▼"));
}

TEST(TerminalReport, FitsEightyColumns) {
  for (const bool hostile : {false, true}) {
    std::istringstream lines(render_terminal(
        sample_model({.candidates = 3, .rounds = 200, .series = false, .hostile = hostile})));
    for (std::string line; std::getline(lines, line);) EXPECT_TRUE(fits(line, 80)) << line;
  }
}

TEST(TerminalReport, SaysWhereTheMemoryDiffersInEightyColumns) {
  const std::string text = render_terminal(sample_model({.series = false, .differences = true}));
  EXPECT_THAT(text, testing::HasSubstr(
                        "\nWhere: server at its peak: 440.0 MiB with original, 260.0 MiB with "
                        "optimized\n"
                        "  ▼ −200.0 MiB ± 4.00 MiB, 91% of what differs, phase aggregate\n"
                        "      clone\n"
                        "      called by aggregate, serve, main\n"
                        "  ▲ +20.0 MiB, 9.1% of what differs\n"
                        "      stage\n"));
  std::istringstream lines(
      render_terminal(sample_model({.series = false, .hostile = true, .differences = true})));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(count_characters(line), 80u) << line;
}

TEST(TerminalReport, HasNoEscapeSequenceUnlessColourIsAskedFor) {
  const ReportModel model = sample_model({.series = false, .hostile = true});
  EXPECT_THAT(render_terminal(model), testing::Not(testing::HasSubstr("\033")));
  EXPECT_THAT(render_terminal(model, {.color = true}), testing::HasSubstr("\033[32m"));
}

TEST(TerminalReport, SaysHowFarARunHasCome) {
  EXPECT_THAT(render_terminal(sample_model({.blocks = 5, .series = false})),
              testing::HasSubstr("\nThe run ended after 5 of 8 blocks.\n"));
}

TEST(TerminalReport, HasWhatTheSummaryHasAndMore) {
  const ReportModel model = sample_model({.differences = true, .snapshots = true});
  const std::string whole = render_terminal(model);
  std::istringstream lines(render_summary(model));
  for (std::string line; std::getline(lines, line);)
    if (line != "Every table and note: --verbose.") {
      EXPECT_THAT(whole, testing::HasSubstr(line));
    }
}

TEST(TerminalReport, SaysNothingTwice) {
  const std::string text =
      render_terminal(sample_model({.series = false, .ablation = true, .differences = true}));
  std::istringstream stream(text);
  std::set<std::string> seen;
  for (std::string line; std::getline(stream, line);)
    EXPECT_TRUE(!line.starts_with("•") || seen.insert(line).second) << line;
}

TEST(TerminalReport, NamesTheProfilesAndHowToOpenThem) {
  const std::string text = render_terminal(sample_model({.series = false, .profiles = true}));
  EXPECT_THAT(text, testing::HasSubstr("• Under the recorder, original took 1.04 times as long"));
  EXPECT_THAT(text, testing::HasSubstr("  memduel flamegraph profiles/19-server.2.mdp --diff "
                                       "profiles/20-server.2.mdp\n"));
}

TEST(TerminalReport, OfARunWithoutTrialsIsItsTitleAndItsNotes) {
  EXPECT_THAT(render_terminal(sample_model({.blocks = -1})),
              testing::StartsWith("sample: optimized against original · 0 runs of each"));
}

TEST(FittedText, BreaksLongLinesBelowTheirLastColumnAndLeavesCommandsWhole) {
  EXPECT_EQ(fitted("ok   meter: procfs    snapshots of the heap over time\n", 40),
            "ok   meter: procfs    snapshots of the\n"
            "                      heap over time\n");
  EXPECT_EQ(fitted("  one two three four\n", 12), "  one two\n    three\n    four\n");
  EXPECT_EQ(fitted("  memduel flamegraph a.mdp --diff b.mdp", 20),
            "  memduel flamegraph a.mdp --diff b.mdp");
  EXPECT_EQ(fitted("short\n\nlines\n", 20), "short\n\nlines\n");
}

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

Comparison row(const std::string& role, const std::string& metric, double ratio) {
  Comparison c;
  c.baseline = "a";
  c.candidate = "b";
  c.role = role;
  c.metric = metric;
  c.ratio = ratio;
  c.verdict = ratio == 1 ? Verdict::unchanged : Verdict::regressed;
  return c;
}

TEST(RepeatedRows, OfOneProcessTheJobSpeaksUnlessTheGateAsksTheRole) {
  std::vector<Comparison> rows = {row("command", "peak_rss_bytes", 1.1),
                                  row("all", "peak_rss_bytes", 1.1)};
  EXPECT_TRUE(repeats_the_job(rows[0], rows));
  EXPECT_FALSE(repeats_the_job(rows[1], rows));
  rows[0].gate = true;
  EXPECT_FALSE(repeats_the_job(rows[0], rows));
  EXPECT_TRUE(repeats_the_job(rows[1], rows));
  rows[1].ratio = 1.2;
  EXPECT_FALSE(repeats_the_job(rows[1], rows)) << "two processes";
}

}  // namespace
}  // namespace memduel
