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
  ComparedCommands commands{.baseline = "A=1 ./old 'x y'", .candidates = {"./new", "./newer -f"}};
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

TEST(ComparedCommands, OfAScanAreEveryCombination) {
  const Document document = document_of({.baseline = "./sort {n} --buffer={size} {n}",
                                         .candidates = {},
                                         .names = {},
                                         .scans = {"n=1,2", "size=4K,1/2"}});
  EXPECT_THAT(document.variant_names(),
              ElementsAre("n-1-size-4K", "n-1-size-1_2", "n-2-size-4K", "n-2-size-1_2"));
  EXPECT_THAT(argv_of(document, 3), ElementsAre("./sort", "2", "--buffer=1/2", "2"));
}

TEST(ComparedCommands, TakeWhatRunsBeforeThemAndAnyExitStatus) {
  const Job job = document_of({.baseline = "a",
                               .candidates = {"b"},
                               .names = {},
                               .scans = {},
                               .prepare = {"sync", "N=1 ./fill disk"},
                               .ignored_statuses = kAllStatuses})
                      .workload.job;
  EXPECT_THAT(job.prepare, ElementsAre(ElementsAre("sync"),
                                       ElementsAre("/usr/bin/env", "N=1", "./fill", "disk")));
  EXPECT_EQ(job.processes.at(0).exit_statuses.size(), 256U);
}

TEST(ComparedCommands, TakeTheExitStatusesThatAreIgnored) {
  const auto statuses = [](const std::string& ignored) {
    return document_of({.baseline = "a", .candidates = {"b"}, .ignored_statuses = ignored})
        .workload.job.processes.at(0)
        .exit_statuses;
  };
  EXPECT_THAT(statuses("2"), ElementsAre(0, 2));
  EXPECT_THAT(statuses("3,1,0"), ElementsAre(0, 1, 3));
  for (const char* wrong : {"256", "-1", "x", "1,,2", "1 2", "false"})
    EXPECT_THAT(refusal_of({.baseline = "a", .candidates = {"b"}, .ignored_statuses = wrong}),
                HasSubstr("--ignore-failure"))
        << wrong;
}

TEST(ComparedCommands, WithWordsForAShellAreRefusedWithoutOne) {
  EXPECT_THAT(refusal_of({.baseline = "echo a | wc -c", .candidates = {"b"}}),
              HasSubstr("give --shell"));
  EXPECT_THAT(refusal_of({.baseline = "a", .candidates = {"b"}, .prepare = {"echo x > f"}}),
              HasSubstr("give --shell"));
}

TEST(ComparedCommands, OfAShellStayWhole) {
  const Document document =
      document_of({.baseline = "a | b", .candidates = {"c > d"}, .shell = true});
  EXPECT_THAT(argv_of(document, 1), ElementsAre("/bin/sh", "-c", "c > d"));
}

TEST(ComparedCommands, TakeRoundsFromTheirOutputOrTheirLogs) {
  using From = TextMarkSpec::From;
  ComparedCommands commands{.baseline = "a", .candidates = {"b"}};
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

TEST(ComparedCommands, AreRefusedWithTheOptionAndWhatWasFound) {
  const auto scan = [](const std::string& text) {
    return refusal_of({.baseline = "x {n}", .candidates = {}, .names = {}, .scans = {text}});
  };
  for (const char* text : {"n", "=1", "n n=1", "n=", "n=1,,2", "n=1,"})
    EXPECT_THAT(scan(text), HasSubstr(text)) << text;
  EXPECT_THAT(scan("m=1,2"), HasSubstr("expected {m} in"));
  EXPECT_THAT(scan("seed=1,2"), HasSubstr("{seed}"));
  EXPECT_THAT(refusal_of({.baseline = "x", .candidates = {"y"}, .names = {"1", "2", "3"}}),
              HasSubstr("each of 2 commands, found 3"));
}

}  // namespace
}  // namespace memduel::cli
