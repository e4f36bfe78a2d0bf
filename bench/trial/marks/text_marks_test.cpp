#include <gmock/gmock.h>
#include <poll.h>

#include <fstream>

#include "trial/marks.h"
#include "trial/trial_plan.h"
#include "util/file.h"

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

using From = TextMarkSpec::From;
using testing::HasSubstr;

class TextMarksTest : public testing::Test {
 protected:
  TextMarksTest() {
    plan_.id = 3;
    plan_.log_dir = scratch_.path();
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_.path() / name, std::ios::app) << text;
  }

  /// Kinds, numbers and names of the marks, as words.
  static std::string words(const std::vector<MarkedLine>& lines) {
    std::string text;
    for (const MarkedLine& line : lines) {
      text += line.role + ":";
      for (const Mark& mark : line.marks) {
        if (mark.kind == Mark::Kind::round_begin) text += " begin " + std::to_string(mark.round);
        if (mark.kind == Mark::Kind::round_end) text += " end " + std::to_string(mark.round);
        if (mark.kind == Mark::Kind::phase) text += " phase " + mark.name;
        if (mark.kind == Mark::Kind::gauge) text += " " + mark.name;
      }
      text += "; ";
    }
    return text;
  }

  static std::string codes(const std::vector<Note>& notes) {
    std::string text;
    for (const Note& note : notes) text += note.code + ": " + note.message + "\n";
    return text;
  }

  static bool readable(int descriptor) {
    pollfd waiting{descriptor, POLLIN, 0};
    return poll(&waiting, 1, 1000) == 1;
  }

  ScratchDirectory scratch_{testing::TempDir(), "text_marks"};
  TrialPlan plan_;
};

TEST_F(TextMarksTest, SeveralPatternsOfARoleMarkOneSequence) {
  plan_.text_marks = {{"server", From::standard_output, {}, "Round (\\d+)"},
                      {"server", From::standard_output, {}, "loss (?<metric_loss>\\S+)"},
                      {"server", From::standard_error, {}, "phase (?<phase>\\w+)"},
                      {"client-1", From::standard_output, {}, "Round (\\d+)"}};
  TextMarks marks(logs_of(plan_).located(plan_.text_marks));
  write("3-server.stdout", "Round 1, loss 0.5\n");
  write("3-server.stderr", "phase aggregate\n");
  write("3-client-1.stdout", "Round 1\n");
  EXPECT_EQ(words(marks.read(1)),
            "server: begin 1 loss; server: phase aggregate; client-1: begin 1; ");
  write("3-server.stdout", "Round 2, loss 0.25");
  EXPECT_EQ(words(marks.finish("server")), "server: end 1 begin 2 loss; ");
  EXPECT_EQ(codes(marks.warnings()), "");
  EXPECT_THAT(codes(marks.limitations()), HasSubstr("rounds of server, client-1 are marked"));
}

TEST_F(TextMarksTest, AChangeWakesAndALogThatIsMissingIsLookedForAgain) {
  plan_.text_marks = {{"server", From::file, scratch_.path() / "job.log", "Round (\\d+)"}};
  TextMarks marks(logs_of(plan_).located(plan_.text_marks));
  EXPECT_EQ(words(marks.read(1'000)), "");
  EXPECT_GT(marks.due_ns(), 1'000);
  EXPECT_LT(marks.due_ns(), 50'000'000);
  write("job.log", "nothing yet\n");
  EXPECT_EQ(words(marks.read(50'000'000)), "");
  EXPECT_EQ(marks.due_ns(), INT64_MAX);
  write("job.log", "Round 1\n");
  ASSERT_TRUE(readable(marks.descriptor()));
  marks.changed();
  EXPECT_EQ(marks.due_ns(), 51'000'000) << "at most one look in a millisecond";
  EXPECT_EQ(words(marks.read(51'000'000)), "server: begin 1; ");
}

TEST_F(TextMarksTest, WarnsOfAPatternThatNeverMatchedWithTheLinesItSaw) {
  plan_.text_marks = {{"server", From::standard_output, {}, "Runde (\\d+)"},
                      {"server", From::file, scratch_.path() / "job.log", "Round (\\d+)"}};
  TextMarks marks(logs_of(plan_).located(plan_.text_marks));
  write("3-server.stdout", "Round 1\nRound 2\n");
  marks.finish("server");
  EXPECT_EQ(codes(marks.warnings()),
            "pattern_never_matched: server: no line of its standard output matches Runde (\\d+)"
            "\nmark_log_missing: server: its log job.log never existed, so Round "
            "(\\d+) matched nothing\n");
  EXPECT_EQ(codes(marks.limitations()), "");
  for (const Note& warning : marks.warnings())
    EXPECT_TRUE(is_of_unmatched_log(warning)) << warning.code;
  EXPECT_FALSE(is_of_unmatched_log({"mark_value_unreadable", "", ""}));
}

TEST_F(TextMarksTest, WarnsOfAPatternForBothStreamsOnlyIfNeitherMatches) {
  plan_.text_marks = {{"server", From::standard_output, {}, "Round (\\d+)"},
                      {"server", From::standard_error, {}, "Round (\\d+)"},
                      {"server", From::file, scratch_.path() / "job.log", "Round (\\d+)"}};
  const auto warnings = [this](const char* line) {
    TextMarks marks(logs_of(plan_).located(plan_.text_marks));
    write("3-server.stdout", "started\n");
    write("3-server.stderr", line);
    write("job.log", "ended\n");
    marks.finish();
    return codes(marks.warnings());
  };
  write("job.log", "");
  const std::string of_log =
      "pattern_never_matched: server: no line of its job.log matches Round (\\d+)"
      "\n";
  EXPECT_EQ(warnings("Round 1\n"), of_log) << "one of several logs is still to match";
  EXPECT_EQ(warnings("begun\n"),
            "pattern_never_matched: server: no line of its standard output matches Round (\\d+)"
            "\npattern_never_matched: server: no line of its standard error "
            "matches Round (\\d+)\n" +
                of_log);
}

TEST_F(TextMarksTest, WarnsOfRoundsThatArriveTogetherOrBackwards) {
  plan_.text_marks = {{"server", From::standard_output, {}, "Round (\\d+)"}};
  TextMarks marks(logs_of(plan_).located(plan_.text_marks));
  write("3-server.stdout", "Round 1\nRound 2\nRound 3\n");
  EXPECT_EQ(words(marks.read(1)),
            "server: begin 1; server: end 1 begin 2; server: end 2 begin 3; ");
  write("3-server.stdout", "Round 2 was long\nRound x\n");
  EXPECT_EQ(words(marks.finish("server")), "");
  const std::string said = codes(marks.warnings());
  EXPECT_THAT(said, HasSubstr("rounds_read_together: the memory of 2 rounds of server"));
  EXPECT_THAT(said, HasSubstr("rounds_out_of_order: 1 line was ignored: server logged"));
}

TEST_F(TextMarksTest, NothingIsWatchedWithoutPatterns) {
  const TextMarks marks(logs_of(plan_).located(plan_.text_marks));
  EXPECT_EQ(marks.descriptor(), -1);
  EXPECT_EQ(marks.due_ns(), INT64_MAX);
}

TEST(TextMarks, ALineIsOvertakenByTheNextRoundOfItsRoleInTheSameRead) {
  Mark round;
  round.kind = Mark::Kind::round_begin;
  Mark idle;
  idle.kind = Mark::Kind::idle;
  const std::vector<MarkedLine> lines = {
      {"server", {idle}}, {"server", {round}}, {"client", {round}}, {"server", {round}}};
  EXPECT_FALSE(is_overtaken(lines, 0)) << "no later reading is nearer to it";
  EXPECT_TRUE(is_overtaken(lines, 1));
  EXPECT_FALSE(is_overtaken(lines, 2));
  EXPECT_FALSE(is_overtaken(lines, 3));
}

}  // namespace
}  // namespace memduel
