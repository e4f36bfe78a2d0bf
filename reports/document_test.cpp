// The document of made-up runs: whole, against golden files, and what each section must state.

#include <gmock/gmock.h>

#include <algorithm>

#include "model_json.h"
#include "reports/report_document.h"
#include "reports/terminal.h"
#include "test_golden.h"
#include "test_sample_run.h"
#include "util/json.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Section* section(const ReportDocument& document, const std::string& id) {
  for (const auto* sections : {&document.first_screen, &document.details})
    for (const Section& one : *sections)
      if (one.id == id) return &one;
  return nullptr;
}

/// The first table of a section.
Table table_in(const ReportDocument& document, const std::string& id) {
  const Section* found = section(document, id);
  if (found == nullptr) return {};
  for (const Part& part : found->parts)
    if (const auto* table = std::get_if<Table>(&part.value)) return *table;
  return {};
}

std::vector<std::string> texts_of(const Row& row) {
  std::vector<std::string> texts;
  for (const Cell& cell : row.cells) texts.push_back(cell.text.plain());
  return texts;
}

std::vector<std::string> titles_of(const Table& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  return titles;
}

ReportDocument document_from(const Sample& sample) {
  return document_of(build_report_model(sample.results, sample.run));
}

Row row_named(const Table& table, const std::string& name) {
  for (const Row& row : table.rows)
    if (row.cells.at(0).text.plain() == name) return row;
  ADD_FAILURE() << "no row " << name;
  return {};
}

class GoldenDocument : public testing::TestWithParam<std::pair<const char*, SampleOptions>> {};

TEST_P(GoldenDocument, IsOfTheSampleRun) {
  const auto& [name, options] = GetParam();
  expect_golden(std::string("document-") + name + ".json",
                written(sample_document(options)).dump(1) + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Samples, GoldenDocument,
    testing::Values(
        std::pair("plain", SampleOptions{.series = false, .snapshots = true}),
        std::pair("profiled",
                  SampleOptions{
                      .series = false, .differences = true, .profiles = true, .growth = true}),
        std::pair("ablated", SampleOptions{.blocks = 6, .series = false, .ablation = true}),
        std::pair("four", SampleOptions{.candidates = 3, .series = false, .parts = true}),
        std::pair("failed", SampleOptions{.blocks = 2, .series = false, .all_failed = true}),
        std::pair("alone", SampleOptions{.candidates = 0, .series = false})),
    [](const auto& test) { return std::string(test.param.first); });

TEST(Headline, StatesTheAnswerTheNumbersAndTheExitCode) {
  const ReportDocument document = sample_document({.series = false});
  EXPECT_EQ(document.answer, Answer::pass);
  // 605 MiB to 365 MiB: see make_sample.
  EXPECT_EQ(document.sentence.plain(),
            "optimized uses 40% less memory (server) than original. Final model bit-identical.");
  EXPECT_THAT(document.exit.plain(),
              StartsWith("Exit code 0: both default gates on peak RSS passed."));
  EXPECT_EQ(document.title, "Peak memory: optimized vs. original (baseline)");
}

TEST(Headline, NamesTheLimitOfAFailedGate) {
  Sample sample = make_sample({.series = false});
  GateResult& gate = sample.results.gates[0];
  Comparison& row = *std::ranges::find_if(
      sample.results.comparisons, [&](const Comparison& one) { return gate.asks_about(one); });
  row.baseline_median = 500e6;
  row.candidate_median = 529e6;
  row.ratio = 1.058;
  row.ci_low = 1.05;
  row.ci_high = 1.07;
  row.verdict = Verdict::regressed;
  gate.outcome = GateOutcome::failed;
  gate.exit_code = 1;
  gate.evidence.limit = 1.02;
  gate.evidence.quantity = GateQuantity::ratio;
  sample.results.overall = {OverallOutcome::failed, 1, std::nullopt, ""};
  const ReportDocument document = document_from(sample);
  EXPECT_EQ(document.answer, Answer::fail);
  EXPECT_THAT(
      document.sentence.plain(),
      StartsWith("optimized uses 5.8% more memory than original (server, limit +2%)."));
  EXPECT_THAT(document.exit.plain(), StartsWith("Exit code 1: of 2 "));
  EXPECT_THAT(texts_of(row_named(table_in(document, "results"), "server peak RSS")),
              testing::Contains("+2% ✗"));
}

TEST(Headline, OfAnInconclusiveRunStatesTheIntervalAndNoChange) {
  Sample sample = make_sample({.series = false});
  for (Comparison& row : sample.results.comparisons) row.verdict = Verdict::inconclusive;
  for (GateResult& gate : sample.results.gates) gate.outcome = GateOutcome::inconclusive;
  sample.results.overall = {OverallOutcome::inconclusive, 5, std::nullopt, ""};
  const ReportDocument document = document_from(sample);
  EXPECT_EQ(document.answer, Answer::inconclusive);
  EXPECT_THAT(
      document.sentence.plain(),
      StartsWith("Server peak RSS of optimized: −40% (95% CI −40 to −39%). 8 trials each do not "
                 "decide."));
}

TEST(Headline, OfFailedTrialsGivesTheReason) {
  const ReportDocument document = sample_document({.series = false, .all_failed = true});
  EXPECT_NE(document.answer, Answer::pass);
  EXPECT_FALSE(document.sentence.plain().empty());
}

TEST(Results, HaveAnAverageReadersOrderAndColumns) {
  const Table table = table_in(sample_document({.series = false}), "results");
  EXPECT_THAT(titles_of(table), ElementsAre("metric", "original", "optimized", "change", "95% CI",
                                            "limit", "verdict", "trials"));
  ASSERT_GE(table.rows.size(), 3U);
  EXPECT_THAT(texts_of(table.rows[0]),
              ElementsAre("server peak RSS", "605.0 MiB", "365.0 MiB", "−40%", "−40 to −39%",
                          testing::_, "improved", ""));
  EXPECT_EQ(texts_of(table.rows[1]).front(), "client-1 peak RSS");
  EXPECT_EQ(texts_of(table.rows.back()).front(), "final model");
  EXPECT_EQ(texts_of(table.rows[table.rows.size() - 2]).front(), "time per round");
}

TEST(Results, DrawEveryTrialFromZero) {
  const Table table = table_in(sample_document({.series = false}), "results");
  const auto& track = table.rows.at(0).cells.back().track;
  ASSERT_TRUE(track);
  EXPECT_EQ(std::ranges::count(track->marks, MarkKind::dot, &TrackMark::kind), 16);
  // Peaks of 604 to 606 MiB against 364 to 366 MiB.
  const auto dot = std::ranges::find_if(track->marks, [](const TrackMark& mark) {
    return mark.kind == MarkKind::median && mark.variant == "optimized";
  });
  ASSERT_NE(dot, track->marks.end());
  EXPECT_NEAR(dot->from, 365.0 / 606, 0.003);
}

TEST(Results, OfSeveralCandidatesHaveARowForEachVariant) {
  const Table table = table_in(sample_document({.candidates = 3, .series = false}), "results");
  EXPECT_THAT(titles_of(table), ElementsAre("metric", "variant", "median", "change", "95% CI",
                                            "limit", "verdict", "trials"));
  const auto first = std::ranges::find_if(table.rows, [](const Row& row) {
    return row.cells.at(0).text.plain() == "server peak RSS";
  });
  ASSERT_LT(first + 3, table.rows.end());
  EXPECT_THAT(texts_of(*first),
              ElementsAre("server peak RSS", "original", "605.0 MiB", "", "", "", "", ""));
  EXPECT_EQ((first + 1)->kind, RowKind::detail);
  EXPECT_THAT(texts_of(*(first + 1)), ElementsAre("", "optimized", "365.0 MiB", "−40%",
                                                  "−40 to −39%", testing::_, "improved", ""));
  EXPECT_EQ(texts_of(*(first + 2)).at(2), "221.0 MiB");
  EXPECT_EQ(first->cells.back().track->marks.size(), 9U) << "its own 8 trials and their median";
}

TEST(Results, StateTheTrendOfAScan) {
  Sample sample = make_sample({.candidates = 2, .series = false});
  const auto rename = [&](const std::string& from, const std::string& to) {
    for (ArmSummary& arm : sample.results.arms)
      if (arm.name == from) arm.name = to;
    for (Comparison& row : sample.results.comparisons) {
      if (row.baseline == from) row.baseline = to;
      if (row.candidate == from) row.candidate = to;
    }
    for (GateResult& gate : sample.results.gates)
      if (gate.candidate == from) gate.candidate = to;
    if (sample.results.baseline == from) sample.results.baseline = to;
    for (TrialData& trial : sample.results.trials)
      if (trial.arm == from) trial.arm = to;
  };
  rename("original", "n-32");
  rename("optimized", "n-8");
  rename("candidate-2", "n-1");
  const std::string text = render_summary(document_from(sample));
  EXPECT_THAT(text, HasSubstr("Trend: peak RSS rises with n, 221.0 MiB at 1 to 605.0 MiB at 32."));
}

TEST(Why, NamesTheLargestCausesOfTheFirstRow) {
  const Table table = table_in(sample_document({.series = false, .snapshots = true}), "why");
  ASSERT_GE(table.rows.size(), 2U);
  EXPECT_EQ(texts_of(table.rows[0]).front(), "−200.0 MiB");
  EXPECT_THAT(texts_of(table.rows[0]).at(1), StartsWith("server: clone, called from aggregate"));
}

TEST(Growth, OfARoleIsOneLineOfAllVariants) {
  const ReportDocument document = sample_document({.series = false, .growth = true});
  const Section* notice = section(document, "growth-notice");
  ASSERT_NE(notice, nullptr);
  const auto* line = std::get_if<Paragraph>(&notice->parts.at(0).value);
  ASSERT_NE(line, nullptr);
  EXPECT_THAT(line->text.plain(), HasSubstr("RSS growth per round: original "));
}

TEST(Gates, AreChecksWithTheirOutcomes) {
  const ReportDocument document = sample_document({.series = false});
  ASSERT_EQ(document.checks.size(), 2U);
  EXPECT_EQ(document.checks[0].status, Check::Status::passed);
  EXPECT_EQ(document.checks[0].variant, "optimized");
  EXPECT_EQ(table_in(document, "gates").rows.size(), 2U);
}

TEST(Sections, AreNoneOfARunWithoutTrials) {
  const ReportDocument document = sample_document({.blocks = -1});
  EXPECT_EQ(section(document, "results"), nullptr);
  EXPECT_EQ(section(document, "metrics"), nullptr);
  EXPECT_NE(section(document, "reproduce"), nullptr);
}

}  // namespace
}  // namespace memduel
