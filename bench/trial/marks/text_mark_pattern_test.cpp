#include <gmock/gmock.h>

#include "trial/marks.h"
#include "util/error.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Metric = std::pair<std::string, double>;

std::string refusal_of(const std::string& text) {
  try {
    const TextMarkPattern pattern(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  ADD_FAILURE() << text;
  return {};
}

TEST(TextMarkPattern, NamedGroupsAreRoundPhaseAndMetrics) {
  TextMarkPattern pattern(
      R"(Round (?<round>\d+) \((?<phase>\w+)\): loss (?<metric_train_loss>\S+), acc (?<metric_accuracy_ratio>\S+))");
  const LineMarks marks = pattern.read("INFO Round 12 (train): loss 2.5e-1, acc 0.875");
  EXPECT_EQ(marks.round, 12);
  EXPECT_EQ(marks.phase, "train");
  EXPECT_THAT(marks.metrics,
              testing::ElementsAre(Metric("train_loss", 0.25), Metric("accuracy_ratio", 0.875)));
  EXPECT_TRUE(pattern.read("INFO evaluating").empty());
  EXPECT_EQ(pattern.lines_matched, 1);
}

TEST(TextMarkPattern, AGroupMayDeclareWhichValuesAreBetter) {
  TextMarkPattern pattern(
      R"((?<higher_throughput>\S+)/s loss (?<lower_loss>\S+) after (?<metric_step_count>\d+))");
  EXPECT_THAT(pattern.metrics(),
              testing::ElementsAre(DeclaredDirection{"throughput", Direction::higher},
                                   DeclaredDirection{"loss", Direction::lower},
                                   DeclaredDirection{"step_count", Direction::undeclared}));
  EXPECT_THAT(pattern.read("200/s loss 0.5 after 7").metrics,
              testing::ElementsAre(Metric("throughput", 200), Metric("loss", 0.5),
                                   Metric("step_count", 7)));
}

TEST(TextMarkPattern, ADirectionThatContradictsTheTableIsRefused) {
  EXPECT_THAT(refusal_of(R"(loss (?<higher_train_loss>\S+))"),
              testing::AllOf(HasSubstr("lower is better for train_loss"),
                             HasSubstr("rename it to lower_train_loss")));
  EXPECT_THAT(TextMarkPattern(R"(loss (?<lower_train_loss>\S+))").metrics(), testing::SizeIs(1));
  EXPECT_THAT(refusal_of(R"(rss (?<lower_peak_rss_bytes>\d+))"),
              testing::AllOf(HasSubstr("memduel measures peak_rss_bytes itself"),
                             HasSubstr("lower_logged_peak_rss_bytes")));
}

TEST(TextMarkPattern, WithoutNamesTheFirstGroupIsTheRound) {
  TextMarkPattern pattern(R"(round (\d+) of (\d+))");
  EXPECT_EQ(pattern.read("round 3 of 10").round, 3);
  EXPECT_TRUE(pattern.names_rounds());
}

TEST(TextMarkPattern, AGroupThatTookNoPartMarksNothing) {
  TextMarkPattern pattern(R"(\[ROUND (?<round>\d+)\]|phase=(?<phase>\S+))");
  EXPECT_EQ(pattern.read("[ROUND 2]").round, 2);
  const LineMarks phase = pattern.read("phase=fit");
  EXPECT_EQ(phase.phase, "fit");
  EXPECT_FALSE(phase.round.has_value());
}

TEST(TextMarkPattern, AnIdleGroupMarksIdle) {
  TextMarkPattern pattern(R"((?<idle>listening)|\[ROUND (?<round>\d+)\])");
  EXPECT_TRUE(pattern.read("INFO: listening on 8080").idle);
  EXPECT_FALSE(pattern.read("[ROUND 2]").idle);
}

TEST(TextMarkPattern, BytesThatAreNoUtf8MatchAsBytes) {
  TextMarkPattern pattern(R"(r.*nde (?<round>\d+))");
  EXPECT_EQ(pattern.read("\xff\xfer\x80unde 4").round, 4);
  TextMarkPattern umlaut("Übertragung (?<round>\\d+)");
  EXPECT_EQ(umlaut.read("Übertragung 5").round, 5);
}

TEST(TextMarkPattern, APhaseIsOneWord) {
  TextMarkPattern pattern("phase: (?<phase>.*)");
  EXPECT_EQ(pattern.read("phase: load data\x1b[0m \xff").phase, "load_data__0m__");
  EXPECT_EQ(pattern.read("phase: " + std::string(500, 'x')).phase->size(), 60U);
  EXPECT_TRUE(pattern.read("phase: ").empty());
}

TEST(TextMarkPattern, WhatIsNoNumberIsCountedAndShown) {
  TextMarkPattern pattern(R"(round (?<round>\S+) loss (?<metric_loss>\S+))");
  for (const char* text : {"three", "-1", "99999999999", "1.5", "0x10"}) {
    EXPECT_FALSE(pattern.read(std::string("round ") + text + " loss 1").round.has_value()) << text;
  }
  for (const char* text : {"nan", "inf", "1e999", "0.5%", "1,234"}) {
    EXPECT_THAT(pattern.read(std::string("round 1 loss ") + text).metrics, IsEmpty()) << text;
  }
  EXPECT_EQ(pattern.values_unreadable, 10);
  EXPECT_EQ(pattern.unreadable_example, "three");
  EXPECT_EQ(pattern.read("round +7 loss +0.5").round, 7);
}

TEST(TextMarkPattern, ASearchWithTooManyWaysIsGivenUp) {
  TextMarkPattern nested("^(?:a+)+(?<round>1)$");
  EXPECT_TRUE(nested.read(std::string(64, 'a') + "b1").empty());
  EXPECT_EQ(nested.lines_undecided, 1);
  EXPECT_EQ(nested.lines_matched, 0);
}

TEST(TextMarkPattern, RefusesWhatCannotMark) {
  EXPECT_THAT(refusal_of("Round (\\d+"), HasSubstr("not a regular expression"));
  EXPECT_THAT(refusal_of("Round (\\d+"), HasSubstr("at character 11"));
  EXPECT_THAT(refusal_of("Round \\d+"), HasSubstr("has no named group"));
  EXPECT_THAT(refusal_of("Round (?<rounds>\\d+)"), HasSubstr("did you mean \"round\"?"));
  EXPECT_THAT(refusal_of("(?<metric_>\\d+)"), HasSubstr("metric_NAME"));
  EXPECT_THAT(refusal_of("(?<metric_peak_rss_bytes>\\d+)"),
              HasSubstr("memduel measures peak_rss_bytes itself"));
}

}  // namespace
}  // namespace memduel
