#include "reports/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "test_golden.h"
#include "test_sample_run.h"
#include "util/text.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(TerminalReport, MatchesTheGoldenFile) {
  expect_golden("terminal.txt", render_terminal(sample_document({})));
}

TEST(TerminalReport, FitsEightyColumns) {
  for (const bool hostile : {false, true})
    for (const std::string& line : lines_of(render_terminal(sample_document(
             {.candidates = 3, .rounds = 200, .series = false, .hostile = hostile}))))
      EXPECT_TRUE(fits(line, 80)) << line;
}

TEST(TerminalReport, CutsNoLongNameWhereItEnds) {
  const auto lines = lines_of(
      render_terminal(sample_document({.series = false, .hostile = true, .differences = true})));
  for (const std::string& line : lines) EXPECT_TRUE(fits(line, 80)) << line;
}

TEST(TerminalReport, HasNoEscapeSequenceUnlessColourIsAskedFor) {
  const ReportDocument document = sample_document({.series = false, .hostile = true});
  EXPECT_THAT(render_terminal(document), Not(HasSubstr("\033")));
  EXPECT_THAT(render_terminal(document, {.color = true}), HasSubstr("\033[32m"));
}

TEST(TerminalReport, StatesHowFarARunHasCome) {
  EXPECT_THAT(render_terminal(sample_document({.blocks = 5, .series = false})),
              HasSubstr("\nThe run ended after 5 of 8 trials each.\n"));
}

TEST(TerminalReport, HasTheFirstScreenAndMore) {
  const ReportDocument document = sample_document({.differences = true, .snapshots = true});
  const std::string whole = render_terminal(document);
  for (const std::string& line : lines_of(render_summary(document)))
    EXPECT_THAT(whole, HasSubstr(line));
}

TEST(TerminalReport, NamesTheProfilesAndTheCommandsThatOpenThem) {
  const std::string text = render_terminal(sample_document({.series = false, .profiles = true}));
  EXPECT_THAT(text, HasSubstr("  memduel flamegraph profiles/19-server.2.mdp --diff "
                              "profiles/20-server.2.mdp\n"));
}

TEST(TerminalReport, BreaksTheNamesOfGatesSoThatTheyStayDifferent) {
  Sample sample = make_sample({.series = false});
  sample.results.gates.at(0).gate = "all.peak_heap_and_mapped_bytes<=margin";
  sample.results.gates.at(1).gate = "all.peak_rss_no_files_bytes<=margin";
  sample.results.gates.at(1).reason = std::string(60, 'x') + " " + std::string(60, 'y');
  const std::string text =
      render_terminal(document_of(build_report_model(sample.results, sample.run)), {.width = 60});
  const std::string gates = text.substr(text.find("\nGates\n"));
  EXPECT_THAT(gates.substr(0, gates.find("\n\n")), Not(HasSubstr("all.pea…")));
  EXPECT_THAT(gates, HasSubstr("all.peak_heap_"));
  EXPECT_THAT(gates, HasSubstr("all.peak_rss_"));
}

TEST(TerminalReport, KeepsThePlaceOfAModuleOfPythonsOwnOnOneLine) {
  Sample sample = make_sample({.series = false, .differences = true});
  Difference& row = sample.results.differences.at(0);
  row.stack = {"<module> (a.py)", "Reversible (<frozen _collections_abc>)", "small Python objects"};
  row.location = "<frozen _collections_abc>:316";
  for (const int width : {60, 70, 80, 90, 100})
    EXPECT_THAT(render_terminal(document_of(build_report_model(sample.results, sample.run)),
                                {.width = width}),
                HasSubstr("(<frozen _collections_abc>:316)"))
        << width;
}

TEST(TerminalReport, BreaksTheNamesOfVariantsSoThatATableStaysOne) {
  Table table;
  table.columns = {{"metric"},       {"gc-clients-0", true}, {"gc-clients-1", true},
                   {"change", true}, {"95% CI", true},       {"limit", true},
                   {"verdict"}};
  table.rows = {{{Cell("peak RSS")}},
                {{Cell("all processes"), Cell("160.4 MiB"), Cell("123.1 MiB"), Cell("−23.4%"),
                  Cell("−27.3 to −13.8%"), Cell("≤+1% ✓"), Cell("improved")},
                 RowKind::member},
                {{Cell("time"), Cell("3.11 s"), Cell("3.06 s"), Cell("−1.8%"),
                  Cell("−8.3 to +1.6%"), Cell("–"), Cell("inconclusive")}}};
  Section section{"results", "", {}};
  section.add(std::move(table));
  ReportDocument document;
  document.first_screen.push_back(std::move(section));
  EXPECT_THAT(
      render_terminal(document),
      HasSubstr(
          "  metric                gc-       gc- change          95% CI  limit verdict\n"
          "                  clients-0 clients-1\n"
          "  peak RSS\n"
          "    all processes 160.4 MiB 123.1 MiB −23.4% −27.3 to −13.8% ≤+1% ✓ improved\n"
          "  time               3.11 s    3.06 s  −1.8%   −8.3 to +1.6%      – inconclusive\n"));
  for (const std::string& line : lines_of(render_terminal(document)))
    EXPECT_TRUE(fits(line, 80)) << line;
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

/// Much of everything.
ReportDocument large_document(bool hostile) {
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
  return document_of(build_report_model(sample.results, sample.run));
}

TEST(TerminalSummary, MatchesTheGoldenFile) {
  expect_golden("summary.txt", render_summary(sample_document({.snapshots = true})));
}

TEST(TerminalSummary, FitsItsColumns) {
  for (const int width : {60, 80, 160})
    for (const std::string& line :
         lines_of(render_summary(large_document(false), {.width = width})))
      EXPECT_TRUE(fits(line, static_cast<std::size_t>(width))) << line;
}

TEST(TerminalSummary, OfThreeRowsHasAboutAScreenOfTwentyTwoLines) {
  EXPECT_LE(lines_of(render_summary(sample_document({.snapshots = true}))).size(), 22U);
}

TEST(TerminalSummary, KeepsTheAnswerTheTableAndTheExitCodeWhateverHasToGo) {
  const std::string text = render_summary(large_document(false), {}, 5);
  EXPECT_THAT(text, testing::StartsWith("PASS  "));
  EXPECT_THAT(text, HasSubstr("server peak"));
  EXPECT_THAT(text, HasSubstr("Exit code 0: "));
}

TEST(TerminalSummary, BreaksNoCommandThatIsToBeCopied) {
  ReportModel model = sample_model({});
  const std::string command =
      "memduel run '" + std::string(100, 'r') + " x/config.json' --repeats 9";
  model.results.first_screen.next_step = Suggestion{"More trials:", command};
  EXPECT_THAT(render_summary(document_of(model)), HasSubstr("\n  " + command + "\n"));
}

TEST(TerminalSummary, HasColourOnlyWhereItIsAskedForAndNeverColourAlone) {
  const ReportDocument document = sample_document({.series = false});
  EXPECT_THAT(render_summary(document), Not(HasSubstr("\033")));
  EXPECT_THAT(render_summary(document, {.color = true}), HasSubstr("\033[32mimproved\033[0m"));
}

}  // namespace
}  // namespace memduel
