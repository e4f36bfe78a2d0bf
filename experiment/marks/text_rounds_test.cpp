#include "experiment/marks/text_rounds.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using Kind = Mark::Kind;
using testing::ElementsAre;

LineMarks round_line(int round) {
  LineMarks line;
  line.round = round;
  return line;
}

LineMarks phase_line(const std::string& phase) {
  LineMarks line;
  line.phase = phase;
  return line;
}

std::vector<std::pair<Kind, int>> taken(TextRounds& rounds, const LineMarks& line) {
  std::vector<std::pair<Kind, int>> marks;
  for (const Mark& mark : rounds.take(line)) marks.emplace_back(mark.kind, mark.round);
  return marks;
}

TEST(TextRounds, ARoundEndsWhereTheNextBegins) {
  TextRounds rounds(true);
  EXPECT_THAT(taken(rounds, round_line(1)), ElementsAre(std::pair(Kind::round_begin, 1)));
  EXPECT_THAT(taken(rounds, round_line(3)),
              ElementsAre(std::pair(Kind::round_end, 1), std::pair(Kind::round_begin, 3)));
  EXPECT_EQ(rounds.begun(), 2);
}

TEST(TextRounds, ALineThatNamesTheRunningRoundBeginsNothing) {
  TextRounds rounds(true);
  rounds.take(round_line(0));
  EXPECT_THAT(taken(rounds, round_line(0)), testing::IsEmpty());
  EXPECT_EQ(rounds.out_of_order(), 0);
}

TEST(TextRounds, ARoundBeforeTheRunningOneIsPassedOver) {
  TextRounds rounds(true);
  rounds.take(round_line(4));
  EXPECT_THAT(taken(rounds, round_line(3)), testing::IsEmpty());
  EXPECT_EQ(rounds.out_of_order(), 1);
  EXPECT_EQ(rounds.begun(), 1);
}

TEST(TextRounds, RoundThenPhaseThenMetricsOfOneLine) {
  TextRounds rounds(true);
  LineMarks line = round_line(2);
  line.phase = "fit";
  line.metrics = {{"loss", 0.5}};
  const auto marks = rounds.take(line);
  ASSERT_EQ(marks.size(), 3U);
  EXPECT_EQ(marks[0].kind, Kind::round_begin);
  EXPECT_EQ(marks[1].name, "fit");
  EXPECT_EQ(marks[2].name, "loss");
  EXPECT_EQ(marks[2].value, 0.5);
}

TEST(TextRounds, IdleIsBeforeTheFirstRoundOnly) {
  TextRounds rounds(true);
  LineMarks idle;
  idle.idle = true;
  EXPECT_THAT(taken(rounds, idle), ElementsAre(std::pair(Kind::idle, 0)));
  rounds.take(round_line(1));
  EXPECT_THAT(taken(rounds, idle), testing::IsEmpty());
}

TEST(TextRounds, WherePhasesAreAllThereIsTheFirstBeginsRoundOne) {
  TextRounds rounds(false);
  EXPECT_THAT(taken(rounds, phase_line("load")),
              ElementsAre(std::pair(Kind::round_begin, 1), std::pair(Kind::phase, 0)));
  EXPECT_THAT(taken(rounds, phase_line("fit")), ElementsAre(std::pair(Kind::phase, 0)));
  TextRounds named(true);
  EXPECT_THAT(taken(named, phase_line("load")), ElementsAre(std::pair(Kind::phase, 0)));
}

}  // namespace
}  // namespace memduel
