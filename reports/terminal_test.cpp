#include "reports/formats/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/characters.h"
#include "reports/formats/terminal_tables.h"
#include "reports/formats/terminal_text.h"
#include "reports/testing/golden.h"
#include "reports/testing/sample_run.h"

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
                        "  ▼ −200.0 MiB ± 4.00 MiB, 91 % of what differs, phase aggregate\n"
                        "      clone\n"
                        "      called by aggregate, serve, main\n"
                        "  ▲ +20.0 MiB, 9.1 % of what differs\n"
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

}  // namespace
}  // namespace memduel
