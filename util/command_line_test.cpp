#include "util/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

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

std::string refusal_of_typed(const std::string& text) {
  try {
    split_typed_command(text);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(TypedCommand, IsRefusedWhereOnlyAShellUnderstandsAWord) {
  for (const char* text :
       {"a | b",  "a > f",   "a >f",        "a >> f", "a 2> f",    "a 2>&1",
        "a &> f", "a < f",   "a << E",      "a && b", "a || b",    "a |& b",
        "a ; b",  "a; b",    "a &",         "a|wc",   "a x=1>2",   "curl http://h/?a=1&b=2",
        "a -->",  "a $HOME", "a \"$HOME\"", "a ${x}", "a $(date)", "a `date`"})
    EXPECT_NE(refusal_of_typed(text).find("give -S"), std::string::npos) << text;
}

TEST(TypedCommand, KeepsWhatIsQuotedAndSignsThatNoShellReads) {
  for (const char* text :
       {"grep '|' f", "a \\> f", "a \"&&\" b", "find . -exec ls {} \\;", "curl 'http://h/?a=1&b=2'",
        "sh -c 'a | $b'", "a 2", "a \\$x", "a 5$", "a $1", "a 100%"})
    EXPECT_EQ(refusal_of_typed(text), "") << text;
}

TEST(QuotedCommandLine, IsReadBackAsTheSameWords) {
  const std::vector<std::string> words = {"./job", "a b", "", "it's", "$HOME", "x=1", "\"", "ü"};
  const std::string line = quoted_command_line(words);
  EXPECT_EQ(split_command_line(line).argv, words);
  EXPECT_EQ(quoted_command_line({"cmake", "-B", "build/x"}), "cmake -B build/x");
}

using testing::ElementsAre;

TEST(PrintedCommand, LosesAnOptionInBothItsForms) {
  EXPECT_THAT(without_option({"memduel", "run", "--out", "a", "t.json", "--out=b"}, "--out", 1),
              ElementsAre("memduel", "run", "t.json"));
  EXPECT_THAT(without_option({"memduel", "run", "--resume", "t.json"}, "--resume", 0),
              ElementsAre("memduel", "run", "t.json"));
  EXPECT_THAT(without_option({"memduel", "run", "--output", "a"}, "--out", 1),
              ElementsAre("memduel", "run", "--output", "a"));
}

TEST(PrintedCommand, LeavesTheProgramItsWords) {
  EXPECT_THAT(without_option({"memduel", "compare", "--", "p", "--out", "y"}, "--out", 1),
              ElementsAre("memduel", "compare", "--", "p", "--out", "y"));
  EXPECT_THAT(with_options({"memduel", "compare", "--", "p"}, {"--repeats", "6"}),
              ElementsAre("memduel", "compare", "--repeats", "6", "--", "p"));
  EXPECT_THAT(with_options({"memduel", "run", "t.json"}, {"--repeats", "6"}),
              ElementsAre("memduel", "run", "t.json", "--repeats", "6"));
}

TEST(PrintedCommand, StandsOnALineOfItsOwn) {
  EXPECT_EQ(with_command("go on with", "memduel run t.json"), "go on with:\n  memduel run t.json");
}

TEST(PrintedCommand, LosesSettingsOfAKey) {
  EXPECT_THAT(without_setting({"memduel", "compare", "--set", "measure.repeats=4", "--set",
                               "measure.seed=2", "--set=measure.repeats=5"},
                              "measure.repeats"),
              ElementsAre("memduel", "compare", "--set", "measure.seed=2"));
  EXPECT_THAT(without_setting({"memduel", "watch", "--", "p", "--set", "measure.repeats=4"},
                              "measure.repeats"),
              ElementsAre("memduel", "watch", "--", "p", "--set", "measure.repeats=4"));
}

}  // namespace
}  // namespace memduel
