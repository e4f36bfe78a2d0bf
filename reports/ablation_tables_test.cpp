#include "ablation_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "model_json.h"
#include "reports/terminal.h"
#include "reports/text_formats.h"
#include "test_sample_run.h"
#include "util/text.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Results ablated() {
  return make_sample({.blocks = 6, .series = false, .ablation = true}).results;
}

std::string terminal_of_ablation(bool hostile = false) {
  return render_terminal(
      sample_model({.blocks = 6, .series = false, .hostile = hostile, .ablation = true}));
}

TEST(AblationTables, AreOnePerTotalWithItsRows) {
  const Results results = ablated();
  const auto tables = ablation_tables(results);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].rows.size(), 3U);
  EXPECT_FALSE(tables[0].total->phase);
  EXPECT_EQ(tables[1].total->phase, "aggregate");
  EXPECT_EQ(tables[1].rows.front().phase, "aggregate");
}

TEST(AblationSentences, GiveTheInteractionAndTheSwitchesThatGiveNothing) {
  EXPECT_THAT(
      ablation_sentences(ablated()),
      ElementsAre(
          "server memory above idle at its peak: optimized differs from original by −234.0 "
          "MiB; its switches, each added alone, sum to −100.0 MiB, so interaction is −134.0 "
          "MiB (−140.0 MiB to −130.0 MiB); each left out, they sum to −144.0 MiB, "
          "interaction −90.0 MiB (−95.0 MiB to −85.0 MiB).",
          "These switches give NOTHING, added alone or left out: cleanup."));
}

TEST(AblationSentences, NameTheSwitchesOfWhichNothingCanBeSaid) {
  Results results = ablated();
  for (AblationRow& row : results.ablation)
    if (row.optimization == "cleanup") row.effect = SwitchEffect::inconclusive;
  EXPECT_THAT(ablation_sentences(results).back(),
              "Cannot tell whether these switches give anything: cleanup.");
}

TEST(AblationSentences, AreNoneWithoutAnAblation) {
  EXPECT_THAT(ablation_sentences(make_sample().results), ElementsAre());
}

TEST(LowerBoundSentences, GiveTheMultiplesOfTheJudgedArms) {
  Results results = ablated();
  results.lower_bounds[0].multiples["original+framing"] = 8.75;
  EXPECT_THAT(lower_bound_sentences(results),
              ElementsAre("Lower bound of server memory above idle at its peak: 40.0 MiB (M: its "
                          "model, 40.0 MiB); original 11.25 ×, optimized 5.40 ×."));
}

TEST(AblationInTheTerminal, FitsEightyColumns) {
  for (const bool hostile : {false, true}) {
    std::istringstream lines(terminal_of_ablation(hostile));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(count_characters(line), 80U) << line;
  }
}

TEST(AblationInTheTerminal, ShowsEveryCellAndWhatWasNotRun) {
  EXPECT_THAT(
      terminal_of_ablation(),
      AllOf(HasSubstr("framing            -100.0 MiB   -22.2% ▼   +60.0 MiB   +27.8% ▲ saves"),
            HasSubstr("staging                    no effect here   +84.0 MiB   +38.9% ▲ saves"),
            HasSubstr("cleanup                  +0 B   +0.00% =        +0 B   +0.00% = nothing"),
            HasSubstr("interaction        -134.0 MiB"),
            HasSubstr(
                "server aggregate, -234.0 MiB in all: framing -100.0 MiB alone, +60.0 MiB left\n"
                "  out; staging +84.0 MiB left out")));
}

TEST(AblationInTheTerminal, KeepsItsManyArmsOutOfTheOtherSections) {
  EXPECT_THAT(terminal_of_ablation(), Not(HasSubstr("original+framing")));
  EXPECT_THAT(terminal_of_ablation(),
              HasSubstr("5 of the ablation's 5 arms and original are bit-identical"));
}

TEST(AblationInMarkdown, HasEveryRowWithItsInterval) {
  const std::string text =
      render_markdown(sample_model({.blocks = 6, .series = false, .ablation = true}));
  EXPECT_THAT(text,
              AllOf(HasSubstr("Ablation: 6 rows, per role and phase"), HasSubstr("interaction is"),
                    HasSubstr("| framing | -100.0 MiB, -22.2% (-23.2% to -21.2%, 6 "
                              "blocks) | 60.0 MiB, +27.8%"),
                    HasSubstr("phase aggregate")));
}

TEST(AblationInThePage, IsTheSameAsInTheResults) {
  const nlohmann::json page =
      report_model_to_json(sample_model({.blocks = 6, .series = false, .ablation = true}));
  EXPECT_EQ(page.at("results").at("ablation").size(), 6U);
  EXPECT_EQ(page.at("ablation").size(), 2U);
  EXPECT_EQ(page.at("lower_bounds").size(), 1U);
}

}  // namespace
}  // namespace memduel
