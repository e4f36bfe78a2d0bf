#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "escape.h"
#include "reports/terminal.h"
#include "reports/text_formats.h"
#include "test_sample_run.h"
#include "util/text.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::SizeIs;

constexpr double kMiBOfPart = 1 << 20;

TEST(PartPeaks, AreThoseOfTheHighestRound) {
  const auto all = part_peaks(make_sample({.series = false, .parts = true}).results);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].role, "server");
  EXPECT_THAT(all[0].arms, ElementsAre("original", "optimized"));
  ASSERT_THAT(all[0].parts, SizeIs(4));
  const PartPeak& activations = all[0].parts[1];
  EXPECT_EQ(activations.name, "activations");
  EXPECT_THAT(activations.bytes,
              ElementsAre(Optional(120 * kMiBOfPart), Optional(60 * kMiBOfPart)));
  EXPECT_THAT(activations.ratio(1), Optional(0.5));
  EXPECT_EQ(all[0].parts[3].name, "all tensors");
}

TEST(PartPeaks, AreMediansOfTheMeasuredTrialsThatLived) {
  Results results = make_sample({.blocks = 3, .series = false, .parts = true}).results;
  double more = 0;
  for (TrialData& trial : results.trials) {
    if (trial.arm != "original") continue;
    for (RoleData& role : trial.roles)
      if (role.role == "server") role.rounds.edit()[1].metrics["activation_bytes"] += more;
    more += kMiBOfPart;  // 0 of the warm-up, then 1, 2, 3
  }
  EXPECT_THAT(part_peaks(results)[0].parts[1].bytes[0], Optional(122 * kMiBOfPart));
  for (TrialData& trial : results.trials)
    if (trial.arm == "original" && trial.block == 3) trial.status = TrialStatus::failed;
  EXPECT_THAT(part_peaks(results)[0].parts[1].bytes[0], Optional(121.5 * kMiBOfPart));
}

TEST(PartPeaks, BeginWithTheBaselineAndLeaveOutAnAblationsArms) {
  Results results = make_sample({.candidates = 2, .series = false, .parts = true}).results;
  results.baseline = "optimized";
  results.arms[2].ablation = true;
  EXPECT_THAT(part_peaks(results)[0].arms, ElementsAre("optimized", "original"));
}

TEST(PartPeaks, OfNothingHaveNoRatio) {
  const PartPeak teacher{"teacher", {0, 25.0, std::nullopt}};
  EXPECT_EQ(teacher.ratio(1), std::nullopt);
  EXPECT_EQ(teacher.ratio(2), std::nullopt);
}

TEST(PartPeaks, AreAbsentWithoutATraining) {
  EXPECT_THAT(part_peaks(make_sample({.series = false}).results), IsEmpty());
  EXPECT_THAT(render_terminal(sample_document({.series = false})),
              Not(HasSubstr("Peak by part of the training")));
  EXPECT_THAT(render_markdown(sample_document({.series = false})),
              Not(HasSubstr("Peak by part of the training")));
}

TEST(PartPeaks, FitATerminal) {
  for (const bool hostile : {false, true}) {
    std::istringstream lines(render_terminal(
        sample_document({.candidates = 5, .series = false, .hostile = hostile, .parts = true})));
    for (std::string line; std::getline(lines, line);) EXPECT_TRUE(fits(line, 80)) << line;
  }
  const std::string text =
      render_terminal(sample_document({.candidates = 5, .series = false, .parts = true}));
  EXPECT_THAT(text,
              testing::ContainsRegex("\nactivations +120.0 MiB +60.0 MiB −50.0% +40.0 MiB −66.7%"));
}

TEST(PartPeaks, AreATableInMarkdown) {
  const std::string text = render_markdown(sample_document({.series = false, .parts = true}));
  EXPECT_THAT(text, HasSubstr("| server | original | optimized |\n| --- | ---: | ---: |\n"));
  EXPECT_THAT(text, HasSubstr("| activations | 120.0 MiB | 60.0 MiB −50.0% |\n"));
}

}  // namespace
}  // namespace memduel
