#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "compare.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Argv& argv_of(const Document& document, std::size_t variant) {
  return document.variants.at(variant).argv.at("command");
}

std::string refusal_of(const ComparedCommands& commands) {
  try {
    document_of(commands);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(ComparedCommands, AreArmsByLetterUnlessTheyHaveNames) {
  ComparedCommands commands{.commands = {"A=1 ./old 'x y'", "./new", "./newer -f"}};
  const Document document = document_of(commands);
  EXPECT_THAT(document.variant_names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(document.baseline, "a");
  EXPECT_THAT(document.variants.at(0).env, ElementsAre(testing::Pair("A", "1")));
  EXPECT_THAT(document.workload.job.processes.at(0).argv, ElementsAre("./old", "x y"));
  EXPECT_THAT(argv_of(document, 2), ElementsAre("./newer", "-f"));
  commands.names = {"before", "after"};
  EXPECT_THAT(document_of(commands).variant_names(), ElementsAre("before", "after", "c"));
  EXPECT_EQ(document_of(commands).baseline, "before");
}

TEST(ComparedCommands, OfListsAreEveryCombination) {
  const Document document = document_of({.commands = {"./sort {n} --buffer={size} {n}"},
                                         .lists = {{"n", "1,2"}, {"size", "4K,1/2"}}});
  EXPECT_THAT(document.variant_names(),
              ElementsAre("n-1-size-4K", "n-2-size-4K", "n-1-size-1_2", "n-2-size-1_2"));
  EXPECT_THAT(argv_of(document, 3), ElementsAre("./sort", "2", "--buffer=1/2", "2"));
}

// hyperfine -L v old,new -L n 1,2 'echo {v} {n}' 'ls {v} {n}', hyperfine 2.0.0
TEST(ComparedCommands, OfListsAreInTheOrderOfHyperfine) {
  const Document document = document_of(
      {.commands = {"echo {v} {n}", "ls {v} {n}"}, .lists = {{"v", "old,new"}, {"n", "1,2"}}});
  std::vector<std::string> commands = {"echo old 1"};
  for (std::size_t i = 1; i < document.variants.size(); ++i)
    commands.push_back(fmt::format("{}", fmt::join(argv_of(document, i), " ")));
  EXPECT_THAT(commands, ElementsAre("echo old 1", "ls old 1", "echo new 1", "ls new 1",
                                    "echo old 2", "ls old 2", "echo new 2", "ls new 2"));
  EXPECT_EQ(document.variants[3].name, "b-n-1-v-new") << "hyperfine sorts names in its JSON";
}

TEST(ComparedCommands, OfAScanHaveTheirParameters) {
  ComparedCommands commands;
  commands.commands = {"srv {n} {m}"};
  commands.lists = {{"n", "1,2"}, {"m", "x"}};
  const Document document = document_of(commands);
  ASSERT_EQ(document.variants.size(), 2U);
  EXPECT_EQ(document.variants[1].parameters,
            (std::map<std::string, std::string>{{"n", "2"}, {"m", "x"}}));
}

TEST(ComparedCommands, OfAListEscapeCommas) {
  const Document document =
      document_of({.commands = {"./join '{words}'"}, .lists = {{"words", "a\\,b,c\\\\d"}}});
  EXPECT_THAT(document.workload.job.processes.at(0).argv, ElementsAre("./join", "a,b"));
  EXPECT_THAT(argv_of(document, 1), ElementsAre("./join", "c\\d"));
}

TEST(ComparedCommands, OfAScanAreItsNumbers) {
  const auto names = [](const ComparedCommands& commands) {
    return document_of(commands).variant_names();
  };
  EXPECT_THAT(names({.commands = {"x {n}"}, .scan = {"n", "1", "4"}}),
              ElementsAre("n-1", "n-2", "n-3", "n-4"));
  EXPECT_THAT(names({.commands = {"x {d}"}, .scan = {"d", "0.3", "0.7"}, .step = "0.2"}),
              ElementsAre("d-0.3", "d-0.5", "d-0.7"));
  EXPECT_THAT(names({.commands = {"x {n}", "y {n}"}, .scan = {"n", "0", "3"}, .step = "3"}),
              ElementsAre("a-n-0", "b-n-0", "a-n-3", "b-n-3"));
  EXPECT_THAT(names({.commands = {"x {n}"}, .names = {"with {n}"}, .scan = {"n", "1", "2"}}),
              ElementsAre("with_1", "with_2"));
}

TEST(ComparedCommands, TakeOneOptionForAllOrOneForEach) {
  const Document document = document_of({.commands = {"./a", "./b"},
                                         .env = {"N=1 WORDS='x y'", ""},
                                         .prepare = {"sync | cat"},
                                         .conclude = {"rm -f a", "rm -f b"}});
  EXPECT_THAT(document.variants.at(0).env,
              ElementsAre(testing::Pair("N", "1"), testing::Pair("WORDS", "x y")));
  EXPECT_THAT(document.variants.at(1).env, IsEmpty());
  for (const Variant& variant : document.variants)
    EXPECT_THAT(variant.prepare, ElementsAre(ElementsAre("/bin/sh", "-c", "sync | cat")));
  EXPECT_THAT(document.variants.at(1).cleanup,
              ElementsAre(ElementsAre("/bin/sh", "-c", "rm -f b")));
  EXPECT_THAT(refusal_of({.commands = {"a", "b"}, .prepare = {"1", "2", "3"}}),
              HasSubstr("--prepare: expected one for all commands, or 2 for 2 commands, found 3"));
  EXPECT_THAT(refusal_of({.commands = {"a", "b"}, .env = {"N"}}),
              HasSubstr("--env: expected NAME=VALUE, found \"N\""));
}

TEST(ComparedCommands, GetTheNumberOfTheTrialWhereTheyNameIt) {
  const Document document = document_of(
      {.commands = {"./a", "./b"}, .conclude = {"mv out out-$HYPERFINE_ITERATION", ""}});
  EXPECT_THAT(document.variants.at(0).env,
              ElementsAre(testing::Pair("HYPERFINE_ITERATION", "{block}")));
  EXPECT_THAT(document.variants.at(1).env, IsEmpty());
}

TEST(ComparedCommands, TakeAnyExitStatus) {
  const auto statuses = [](const std::string& ignored) {
    return document_of({.commands = {"a", "b"}, .ignored_statuses = ignored})
        .workload.job.processes.at(0)
        .exit_statuses.size();
  };
  EXPECT_EQ(statuses(kAllStatuses), 256U);
  EXPECT_EQ(statuses("all-non-zero"), 256U);
}

TEST(ComparedCommands, TakeTheExitStatusesThatAreIgnored) {
  const auto statuses = [](const std::string& ignored) {
    return document_of({.commands = {"a", "b"}, .ignored_statuses = ignored})
        .workload.job.processes.at(0)
        .exit_statuses;
  };
  EXPECT_THAT(statuses("2"), ElementsAre(0, 2));
  EXPECT_THAT(statuses("3,1,0"), ElementsAre(0, 1, 3));
  for (const char* wrong : {"256", "-1", "x", "1,,2", "1 2", "false"})
    EXPECT_THAT(refusal_of({.commands = {"a", "b"}, .ignored_statuses = wrong}),
                HasSubstr("--ignore-failure"))
        << wrong;
}

TEST(ComparedCommands, WithWordsForAShellAreRefusedWithoutOne) {
  EXPECT_THAT(refusal_of({.commands = {"echo a | wc -c", "b"}}), HasSubstr("give -S"));
}

TEST(ComparedCommands, OfAShellStayWhole) {
  const Document document =
      document_of({.commands = {"a | b", "c > d"}, .shell = shell_named("default")});
  EXPECT_THAT(argv_of(document, 1), ElementsAre("/bin/sh", "-c", "c > d"));
  EXPECT_THAT(shell_named("bash --norc"), ElementsAre("bash", "--norc", "-c"));
  EXPECT_THAT(shell_named("none"), IsEmpty());
}

TEST(ComparedCommands, TakeRoundsFromTheirOutputOrTheirLogs) {
  using From = TextMarkSpec::From;
  ComparedCommands commands{.commands = {"a", "b"}};
  EXPECT_THAT(document_of(commands).workload.job.marks, IsEmpty());
  commands.round_pattern = "Round (\\d+)";
  const auto of_output = document_of(commands).workload.job.marks;
  ASSERT_EQ(of_output.size(), 2U);
  EXPECT_EQ(of_output[0].from, From::standard_output);
  EXPECT_EQ(of_output[1].from, From::standard_error);
  for (const TextMarkSpec& mark : of_output) {
    EXPECT_EQ(mark.role, "command");
    EXPECT_EQ(mark.pattern, "Round (\\d+)");
  }
  commands.logs = {"job.log", "{trial_dir}/job.log"};
  const auto of_logs = document_of(commands).workload.job.marks;
  ASSERT_EQ(of_logs.size(), 2U);
  for (const TextMarkSpec& mark : of_logs) EXPECT_EQ(mark.from, From::file);
  EXPECT_EQ(of_logs[0].file, std::filesystem::current_path() / "job.log");
  EXPECT_EQ(of_logs[1].file, "{trial_dir}/job.log");
  commands.round_pattern = "Round (";
  EXPECT_THAT(refusal_of(commands), HasSubstr("--round-pattern: \"Round (\""));
  commands.round_pattern.reset();
  EXPECT_THAT(refusal_of(commands), HasSubstr("--log: found a log but no pattern"));
}

TEST(ComparedCommands, ThatAreTheSameAreRefusedUnlessTheirStepsDifferOrTheyMeasureTheNoise) {
  EXPECT_THAT(refusal_of({.commands = {"./a 1", "./a  1"}}),
              HasSubstr("expected different commands, found './a  1' as a and as b"));
  EXPECT_EQ(refusal_of({.commands = {"./a", "./a"}, .prepare = {"", "rm -f cache"}}), "");
  EXPECT_EQ(refusal_of({.commands = {"./a", "./a"}, .env = {"", "A=1"}}), "");
  EXPECT_EQ(refusal_of({.commands = {"./a", "./a"}, .calibrate = true}), "");
}

TEST(ComparedCommands, ThatTheShellSplitAreRefusedWithTheQuotes) {
  EXPECT_THAT(refusal_of({.commands = {"sleep", "0.1"}}),
              HasSubstr("found \"0.1\", which is the name of no program"));
  EXPECT_EQ(refusal_of({.commands = {"sleep", "true"}}), "");
  EXPECT_EQ(refusal_of({.commands = {"./absent", "./other"}}), "") << "an earlier word is none";
}

TEST(ComparedCommands, HaveDifferentNamesOfAFewSigns) {
  EXPECT_THAT(refusal_of({.commands = {"./a", "./b"}, .names = {"x", "x"}}),
              HasSubstr("found the name \"x\" twice"));
  EXPECT_THAT(refusal_of({.commands = {"./a", "./b"}, .names = {"x", "../y"}}),
              HasSubstr("letters, digits and . _ + -"));
}

TEST(ComparedCommands, AreRefusedWithTheOptionAndWhatWasFound) {
  const auto list = [](const std::string& name, const std::string& values) {
    return refusal_of({.commands = {"x {n}"}, .lists = {{name, values}}});
  };
  for (const char* values : {"", "1,,2", "1,"})
    EXPECT_THAT(list("n", values), HasSubstr("empty value")) << values;
  EXPECT_THAT(list("n n", "1"), HasSubstr("\"n n\""));
  EXPECT_THAT(list("n", "1,2,1"), HasSubstr("the value 1 twice"));
  EXPECT_THAT(list("m", "1,2"), HasSubstr("expected {m} in 'x {n}'"));
  EXPECT_THAT(list("seed", "1,2"), HasSubstr("{seed}"));
  const auto scan = [](const std::vector<std::string>& words,
                       const std::optional<std::string>& step = std::nullopt) {
    return refusal_of({.commands = {"x {n}"}, .scan = words, .step = step});
  };
  EXPECT_THAT(scan({"n=1,2,4"}), HasSubstr("a list of values is -L n 1,2,4"));
  EXPECT_THAT(scan({"n", "1"}), HasSubstr("expected VAR MIN MAX, found 2 words"));
  EXPECT_THAT(scan({"n", "4", "1"}), HasSubstr("ascending order, found 4 1"));
  EXPECT_THAT(scan({"n", "1", "x"}), HasSubstr("\"x\""));
  EXPECT_THAT(scan({"n", "0.1", "0.9"}), HasSubstr("add -D DELTA"));
  for (const char* step : {"0", "-1"})
    EXPECT_THAT(scan({"n", "1", "4"}, step), HasSubstr("above 0"));
  EXPECT_THAT(scan({"n", "1", "1000000"}), HasSubstr("expected at most 64 values, found 1000000"));
  EXPECT_THAT(refusal_of({.commands = {"x {n}"}, .lists = {{"n", "1,2"}}, .scan = {"n", "1", "2"}}),
              HasSubstr("found both"));
  EXPECT_THAT(refusal_of({.commands = {"x"}, .step = "1"}), HasSubstr("--parameter-step-size"));
  EXPECT_THAT(refusal_of({.commands = {"x", "y"}, .names = {"1", "2", "3"}}),
              HasSubstr("each of 2 commands, found 3"));
}

}  // namespace
}  // namespace memduel::cli
