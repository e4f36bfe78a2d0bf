#include "cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "util/error.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;

struct Ended {
  int code = -1;
  std::string said;
};

/// A program with the verbs `act` and `record`, both of which do `act`.
Ended run_with(std::vector<std::string> words, const std::function<int()>& act) {
  CLI::App app{"about", "memduel"};
  prepare(app, "");
  Action action;
  std::string out;
  int count = 0;
  for (const char* name : {"act", "record"}) {
    CLI::App* verb = app.add_subcommand(name, "help");
    verb->add_option("--out", out, "a name");
    verb->add_option("--count", count, "a number");
    verb->callback([&] { action = act; });
  }
  ProgramRules rules;
  rules.code_of_failure = [](const CLI::App& parsed, ExitCode code) {
    return parsed.got_subcommand("record") ? kOwnFailure : static_cast<int>(code);
  };
  rules.takes_any_bytes = [](const CLI::App& parsed) { return parsed.got_subcommand("record"); };
  words.insert(words.begin(), "memduel");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  Ended ended;
  ended.code = run_program(app, action, static_cast<int>(argv.size()), argv.data(), rules);
  ended.said = testing::internal::GetCapturedStderr();
  return ended;
}

int nothing() {
  return 0;
}

TEST(RunProgram, ShowsTheHelpOfACommandByItsName) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"help"}, {"help", "act"}, {"act", "--help"}}) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_with(words, nothing).code, 0);
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_THAT(out, HasSubstr(words.size() == 1 ? "record" : "--out")) << words.back();
  }
  const Ended unknown = run_with({"help", "atc"}, nothing);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.said, HasSubstr("expected a command, found \"atc\"\n  see memduel --help"));
}

TEST(RunProgram, ReturnsWhatTheVerbDoes) {
  EXPECT_EQ(run_with({"act"}, [] { return 5; }).code, 5);
}

TEST(RunProgram, AnErrorsCodeIsTheExitCode) {
  const Ended ended = run_with({"act"}, []() -> int {
    throw Error(ExitCode::cannot_measure, "it does not work", "a.json", "try b.json");
  });
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.said, HasSubstr("memduel: a.json: it does not work\n"));
  EXPECT_THAT(ended.said, HasSubstr("try b.json"));
}

TEST(RunProgram, WhatALibraryThrowsIsAFileThatFailed) {
  EXPECT_EQ(run_with({"act"}, []() -> int { throw std::runtime_error("odd"); }).code, 4);
  EXPECT_EQ(run_with({"act"}, []() -> int { throw std::bad_alloc(); }).code, 4);
  const Ended ended = run_with({"act"}, []() -> int {
    throw std::filesystem::filesystem_error(
        "library's words", "gone.json", std::make_error_code(std::errc::no_such_file_or_directory));
  });
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.said, "memduel: gone.json: No such file or directory\n");
}

TEST(RunProgram, AFailureIsNotMistakenForTheStatusOfACommand) {
  const auto fail = []() -> int { throw Error(ExitCode::usage, "no"); };
  EXPECT_EQ(run_with({"act"}, fail).code, 2);
  EXPECT_EQ(run_with({"record"}, fail).code, kOwnFailure);
  EXPECT_EQ(run_with({"record", "--no-such"}, nothing).code, kOwnFailure);
}

TEST(RunProgram, AMistakeInAVerbsOptionsNamesItsHelp) {
  EXPECT_THAT(run_with({"act", "--no-such"}, nothing).said, HasSubstr("see memduel act --help"));
  EXPECT_THAT(run_with({}, nothing).said, HasSubstr("see memduel --help"));
}

TEST(RunProgram, SuggestsTheNearestVerb) {
  const Ended ended = run_with({"recrod"}, nothing);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.said, HasSubstr("did you mean \"record\"?"));
}

TEST(RunProgram, SaysWhatReplacesARemovedVerbOrOption) {
  const Ended ended = run_with({"import-appfl", "server.yaml", "client_1.yaml"}, nothing);
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.said,
            "memduel: expected a command, found \"import-appfl\"\n  it was removed: write the job "
            "as described in docs/appfl.md\n");
  EXPECT_THAT(
      run_with({"act", "--retry-on-regress=1"}, nothing).said,
      HasSubstr("\n  --retry-on-regress: it was removed: measure more trials with --repeats N"));
  EXPECT_THAT(run_with({"act", "massif", "--no-such"}, nothing).said, HasSubstr("see memduel act"));
  EXPECT_THAT(run_with({"act", "--arms", "a,b"}, nothing).said,
              HasSubstr("\n  --arms: it was renamed: --variants"));
  EXPECT_EQ(run_with({"laboratory"}, nothing).said,
            "memduel: expected a command, found \"laboratory\"\n  it was renamed: memduel fl\n");
}

TEST(RunProgram, AFlagTakesNoValue) {
  CLI::App app{"about", "memduel"};
  prepare(app, "");
  bool quiet = false;
  std::string codes;
  Action action = nothing;
  CLI::App* verb = app.add_subcommand("act", "help");
  verb->add_flag("--quiet", quiet, "a flag");
  verb->add_flag("--ignore", codes, "a flag with an optional value")->option_text("[=CODES]");
  const auto run = [&](std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStderr();
    const int code = run_program(app, action, static_cast<int>(argv.size()), argv.data());
    return std::pair(code, testing::internal::GetCapturedStderr());
  };
  const auto [code, said] = run({"memduel", "act", "--quiet=2"});
  EXPECT_EQ(code, 2);
  EXPECT_THAT(said, HasSubstr("--quiet takes no value"));
  EXPECT_EQ(run({"memduel", "act", "--quiet", "--ignore=2"}).first, 0);
  EXPECT_EQ(codes, "2");
}

TEST(RunProgram, BytesThatAreNoTextAreRefusedButInACommand) {
  EXPECT_EQ(run_with({"act", "--out", "\xff"}, nothing).code, 2);
  EXPECT_EQ(run_with({"record", "--out", "\xff"}, nothing).code, 0);
}

TEST(RunProgram, AnEmptyNameIsNoDefault) {
  const Ended ended = run_with({"act", "--out", ""}, nothing);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.said, HasSubstr("--out"));
}

TEST(PrintFailure, LetsNoNameCommandTheTerminal) {
  testing::internal::CaptureStderr();
  print_failure("a\x1b[2Jb");
  EXPECT_EQ(testing::internal::GetCapturedStderr().find('\x1b'), std::string::npos);
}

TEST(RunProgram, ExplainsWrongValuesOfAnOption) {
  EXPECT_THAT(run_with({"act", "--out"}, nothing).said,
              HasSubstr("memduel: --out: expected TEXT, found none\n"));
  EXPECT_THAT(run_with({"act", "--out", "x", "--out", "y"}, nothing).said,
              HasSubstr("memduel: --out: expected it once, found it 2 times\n"));
  EXPECT_THAT(run_with({"act", "--count", "1.5"}, nothing).said,
              HasSubstr("memduel: --count: expected a whole number, found \"1.5\"\n"));
  EXPECT_THAT(run_with({"act", "--count", "x"}, nothing).said,
              HasSubstr("memduel: --count: expected a number, found \"x\"\n"));
}

}  // namespace
}  // namespace memduel::cli
