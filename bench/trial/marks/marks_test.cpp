#include "trial/marks.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(ParseMark, ReadsEveryKind) {
  const auto start = parse_mark("start 4711");
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->kind, Mark::Kind::start);
  EXPECT_EQ(start->pid, 4711);
  EXPECT_FALSE(start->no_reset);
  EXPECT_TRUE(parse_mark("start 4711 no_reset")->no_reset);

  const auto idle = parse_mark("idle 100 4096 3072 2048 1024");
  ASSERT_TRUE(idle.has_value());
  EXPECT_EQ(idle->t_ns, 100);
  EXPECT_EQ(idle->sizes.peak, 4096);
  EXPECT_EQ(idle->sizes.rss, 3072);
  EXPECT_EQ(idle->sizes.anon, 2048);
  EXPECT_EQ(idle->sizes.file, 1024);

  const auto begin = parse_mark("round_begin 7 3 1 2 3 4");
  ASSERT_TRUE(begin.has_value());
  EXPECT_EQ(begin->kind, Mark::Kind::round_begin);
  EXPECT_EQ(begin->round, 3);
  EXPECT_EQ(parse_mark("round_end 7 3 1 2 3 4")->kind, Mark::Kind::round_end);

  EXPECT_EQ(parse_mark("phase 7 train 1 2 3 4")->name, "train");
  EXPECT_EQ(parse_mark("phase 7 - 1 2 3 4")->name, "");
}

TEST(ParseMark, ASizeThatTheKernelDoesNotTellIsAbsent) {
  const auto mark = parse_mark("idle 5 - 1024 - -");
  ASSERT_TRUE(mark.has_value());
  EXPECT_FALSE(mark->sizes.peak.has_value());
  EXPECT_EQ(mark->sizes.rss, 1024);
}

TEST(ParseMark, GaugesAreDecimalOrHexadecimalAndExact) {
  EXPECT_EQ(parse_mark("gauge 5 loss -3")->value, -3.0);
  EXPECT_EQ(parse_mark("gauge 5 loss 0x1999999999999ap-56")->value, 0.1);
  EXPECT_EQ(parse_mark("gauge 5 loss -0x8p-4")->value, -0.5);
  EXPECT_EQ(parse_mark("gauge 5 loss 0.25")->value, 0.25);
}

TEST(ParseMark, AGaugeMayDeclareItsDirection) {
  EXPECT_EQ(parse_mark("gauge 5 loss 1")->better, Direction::undeclared);
  EXPECT_EQ(parse_mark("gauge 5 loss 1 lower")->better, Direction::lower);
  EXPECT_EQ(parse_mark("gauge 5 auc 0x1p-1 higher")->better, Direction::higher);
  EXPECT_EQ(parse_mark("gauge 5 auc 0x1p-1 higher")->value, 0.5);
}

TEST(ParseMark, RefusesWhatIsNoMark) {
  for (const char* line : {"",
                           " ",
                           "start",
                           "start 0",
                           "start -1",
                           "start 12x",
                           "start 12 reset",
                           "idle",
                           "idle 5",
                           "idle 5 1 2 3",
                           "idle 5 1 2 3 4 5",
                           "idle -5 1 2 3 4",
                           "idle 5 1 -2 3 4",
                           "idle  5 1 2 3 4",
                           "idle 5 1 2 3 4 ",
                           "round_begin 5 -1 1 2 3 4",
                           "round_begin 5 99999999999 1 2 3 4",
                           "round_begin 5 1 1 2 3",
                           "phase 5 1 2 3 4",
                           "gauge 5 loss",
                           "gauge 5 loss nan",
                           "gauge 5 loss inf",
                           "gauge 5 loss 0x",
                           "gauge 5 loss --1",
                           "gauge 5 loss 1e999",
                           "gauge 5 loss 1 2",
                           "gauge 5 loss 1 ",
                           "gauge 5 loss 1 undeclared",
                           "gauge 5 loss 1 lower higher",
                           "gauge 5 loss lower",
                           "Round 3",
                           "round_begin 0x5 1 1 2 3 4"}) {
    EXPECT_FALSE(parse_mark(line).has_value()) << line;
  }
}

TEST(MarkReader, PutsTornLinesTogether) {
  const std::string stream = "start 1\nidle 5 1 2 3 4\ngauge 6 loss 1\n";
  MarkReader whole;
  EXPECT_EQ(whole.feed(stream).size(), 3U);
  MarkReader bytewise;
  std::vector<Mark> marks;
  for (const char byte : stream) {
    for (Mark& mark : bytewise.feed({&byte, 1})) marks.push_back(std::move(mark));
  }
  ASSERT_EQ(marks.size(), 3U);
  EXPECT_EQ(marks[2].name, "loss");
  EXPECT_EQ(bytewise.garbage_lines(), 0);
}

TEST(MarkReader, AnUnfinishedLineIsNoMark) {
  MarkReader reader;
  EXPECT_TRUE(reader.feed("idle 5 1 2 3 4").empty());
  EXPECT_EQ(reader.garbage_lines(), 0);
}

TEST(MarkReader, CountsGarbageAndGoesOn) {
  MarkReader reader;
  const auto marks = reader.feed("hello\n\nstart 1\n" + std::string(100'000, 'x') + "\nstart 2\n");
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[1].pid, 2);
  EXPECT_EQ(reader.garbage_lines(), 3);
}

}  // namespace
}  // namespace memduel
