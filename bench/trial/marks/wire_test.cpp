// That annotate.h and memduel_annotate.py send the same lines for the same calls, and that memduel
// reads of them what was said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "memduel/annotate.h"
#include "trial/marks.h"

namespace memduel {
namespace {

using testing::ElementsAre;

/// The lines that arrive while `send` has the socket's other end in its environment.
std::vector<std::string> lines_of(const std::function<void()>& send) {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  struct stat about{};
  EXPECT_EQ(fstat(ends[1], &about), 0);
  setenv(MEMDUEL_WIRE_FD, std::to_string(ends[1]).c_str(), 1);
  setenv(MEMDUEL_WIRE_INODE, std::to_string(about.st_ino).c_str(), 1);
  send();
  unsetenv(MEMDUEL_WIRE_FD);
  unsetenv(MEMDUEL_WIRE_INODE);
  close(ends[1]);
  std::vector<std::string> lines(1);
  for (char byte = 0; read(ends[0], &byte, 1) == 1;) {
    if (byte == '\n')
      lines.emplace_back();
    else
      lines.back() += byte;
  }
  close(ends[0]);
  lines.pop_back();
  return lines;
}

std::vector<std::string> lines_of_header() {
  return lines_of([] {
    memduel_annotate_v1 = {};
    memduel_idle();
    memduel_round_begin(3);
    memduel_phase("two words");
    memduel_gauge_better("loss", 0.1, MEMDUEL_LOWER_IS_BETTER);
    memduel_gauge_better("f1 macro", 12, MEMDUEL_HIGHER_IS_BETTER);
    memduel_gauge("tiny", -2.5e-300);
    memduel_phase("-");
    memduel_phase(nullptr);
    memduel_round_end(3);
    memduel_annotate_v1 = {};
  });
}

/// What Python prints; its marks go where the environment says.
std::string run_python(const std::string& script) {
  const std::string command = "PYTHONPATH=" MEMDUEL_ANNOTATE_FOLDER
                              " PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '"
                              "import memduel_annotate as m\n" +
                              script + "'";
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  for (int byte = fgetc(pipe); byte != EOF; byte = fgetc(pipe)) out += static_cast<char>(byte);
  EXPECT_EQ(pclose(pipe), 0);
  return out;
}

std::vector<std::string> lines_of_python() {
  return lines_of([] {
    run_python(R"(m.idle()
m.round_begin(3)
m.phase("two words")
m.gauge("loss", 0.1, better="lower")
m.gauge("f1 macro", 12, better="higher")
m.gauge("tiny", -2.5e-300)
m.phase("-")
m.phase(None)
m.round_end(3))");
  });
}

TEST(WireOfMarks, IsTheSameFromCAndFromPython) {
  const std::vector<std::string> header = lines_of_header();
  const std::vector<std::string> python = lines_of_python();
  ASSERT_EQ(header.size(), 10U);
  ASSERT_EQ(python.size(), header.size());
  for (std::size_t i = 0; i < header.size(); ++i) {
    SCOPED_TRACE(header[i] + " and " + python[i]);
    const auto a = parse_mark(header[i]);
    const auto b = parse_mark(python[i]);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(std::ranges::count(header[i], ' '), std::ranges::count(python[i], ' '));
    EXPECT_EQ(a->kind, b->kind);
    EXPECT_EQ(a->no_reset, b->no_reset);
    EXPECT_EQ(a->round, b->round);
    EXPECT_EQ(a->name, b->name);
    EXPECT_EQ(a->value, b->value);
    EXPECT_EQ(a->better, b->better);
    EXPECT_EQ(a->sizes.rss.has_value(), b->sizes.rss.has_value());
    if (a->sizes.rss && b->sizes.rss) {
      EXPECT_LE(*a->sizes.anon + *a->sizes.file, *a->sizes.rss);
      EXPECT_LE(*b->sizes.anon + *b->sizes.file, *b->sizes.rss);
      EXPECT_LE(*b->sizes.rss, *b->sizes.peak);
    }
  }
}

TEST(WireOfMarks, IsReadAsItWasSaid) {
  std::vector<Mark> marks;
  for (const std::string& line : lines_of_header()) marks.push_back(parse_mark(line).value());
  std::vector<Mark::Kind> kinds;
  for (const Mark& mark : marks) kinds.push_back(mark.kind);
  using enum Mark::Kind;
  EXPECT_THAT(kinds, ElementsAre(start, idle, round_begin, phase, gauge, gauge, gauge, phase, phase,
                                 round_end));
  EXPECT_EQ(marks[2].round, 3);
  EXPECT_EQ(marks[3].name, "two_words");
  EXPECT_EQ(marks[4].value, 0.1);
  EXPECT_EQ(marks[4].better, Direction::lower);
  EXPECT_EQ(marks[5].value, 12);
  EXPECT_EQ(marks[5].better, Direction::higher);
  EXPECT_EQ(marks[6].value, -2.5e-300);
  EXPECT_EQ(marks[6].better, Direction::undeclared);
  EXPECT_EQ(marks[7].name, "_") << "a phase of this name does not end the phase";
  EXPECT_EQ(marks[8].name, "");
}

TEST(WireOfMarks, HasTheSameNumbersForTheRecorder) {
  const std::string numbers =
      run_python("print(m._IDLE, m._ROUND_BEGIN, m._ROUND_END, m._PHASE, m._THREAD_PHASE)");
  std::string expected;
  for (const int number : {MEMDUEL_MARK_IDLE, MEMDUEL_MARK_ROUND_BEGIN, MEMDUEL_MARK_ROUND_END,
                           MEMDUEL_MARK_PHASE, MEMDUEL_MARK_THREAD_PHASE})
    expected += (expected.empty() ? "" : " ") + std::to_string(number);
  EXPECT_EQ(numbers, expected + "\n");
}

}  // namespace
}  // namespace memduel
