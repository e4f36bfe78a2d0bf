#include "base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Each expected list is what `sh -c 'printf "%s\n" WORDS'` prints for the same words.
TEST(CommandLine, SplitsAsAShellQuotes) {
  EXPECT_THAT(split_command_line("./hog 200").argv, ElementsAre("./hog", "200"));
  EXPECT_THAT(split_command_line("  a  'b c'\t\"d e\" ").argv, ElementsAre("a", "b c", "d e"));
  EXPECT_THAT(split_command_line(R"(a b\ c 'd\e' "f\e\"g")").argv,
              ElementsAre("a", "b c", R"(d\e)", R"(f\e"g)"));
  EXPECT_THAT(split_command_line("a '' x\"y\"z").argv, ElementsAre("a", "", "xyz"));
}

TEST(CommandLine, ExpandsNothing) {
  EXPECT_THAT(split_command_line("echo $HOME *.c > out | cat").argv,
              ElementsAre("echo", "$HOME", "*.c", ">", "out", "|", "cat"));
}

TEST(CommandLine, LeadingAssignmentsBecomeEnvironment) {
  const CommandLine command =
      split_command_line("MALLOC_ARENA_MAX=2 NAME='a b' ./server key=value");
  EXPECT_THAT(command.env, ElementsAre(Pair("MALLOC_ARENA_MAX", "2"), Pair("NAME", "a b")));
  EXPECT_THAT(command.argv, ElementsAre("./server", "key=value"));
}

TEST(CommandLine, KeepsUtf8AndPathsWithAnEqualsSign) {
  EXPECT_THAT(split_command_line("./größe=1/x 'ü'").argv, ElementsAre("./größe=1/x", "ü"));
}

TEST(CommandLine, RefusesWhatAShellWouldWaitFor) {
  for (const char* text : {"a 'b", "a \"b", "a \\", "", "  ", "A=1"}) {
    EXPECT_THROW(split_command_line(text), Error) << text;
  }
}

TEST(QuotedCommandLine, IsReadBackAsTheSameWords) {
  const std::vector<std::string> words = {"./job", "a b", "", "it's", "$HOME", "x=1", "\"", "ü"};
  const std::string line = quoted_command_line(words);
  EXPECT_EQ(split_command_line(line).argv, words);
  EXPECT_EQ(quoted_command_line({"cmake", "-B", "build/x"}), "cmake -B build/x");
}

}  // namespace
}  // namespace memduel
