#include "foreign_tools.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/verbs.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;

struct Refusal {
  int code = -1;
  std::string err;
};

Refusal refusal_of(std::vector<std::string> words) {
  CLI::App app{"about", "memduel"};
  prepare(app, "");
  Action action;
  add_verbs(app, action);
  words.insert(words.begin(), "memduel");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  Refusal refusal;
  refusal.code = run_program(app, action, static_cast<int>(argv.size()), argv.data());
  refusal.err = testing::internal::GetCapturedStderr();
  return refusal;
}

std::vector<std::string> words_in(std::string_view text) {
  std::istringstream all{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; all >> word;) words.push_back(word);
  return words;
}

/// Each command line of memduel in a text: the words from "memduel" on.
std::vector<std::vector<std::string>> command_lines_in(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& word : words_in(text)) {
    if (word == "memduel")
      lines.emplace_back();
    else if (!lines.empty())
      lines.back().push_back(word);
  }
  return lines;
}

/// Every verb that a text recommends is one of memduel, and has the options that follow it.
void expect_to_exist(std::string_view text) {
  CLI::App app{"about", "memduel"};
  Action action;
  add_verbs(app, action);
  for (const auto& line : command_lines_in(text)) {
    ASSERT_FALSE(line.empty()) << text;
    if (!std::ranges::count(verb_names(app), line.front())) {
      // "memduel stops when it is decided" is no command.
      EXPECT_FALSE(std::ranges::any_of(line, [](const auto& w) { return w.starts_with("--"); }))
          << text;
      continue;
    }
    const CLI::App* verb = app.get_subcommand(line.front());
    for (std::string word : line) {
      if (word == "--") break;
      if (!word.starts_with("--")) continue;
      while (word.ends_with(',') || word.ends_with(';')) word.pop_back();
      EXPECT_NE(verb->get_option_no_throw(word), nullptr) << text << ": " << word;
    }
  }
}

/// No message is broken to the width of a terminal in the middle of what is looked for.
std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::string joined;
  for (const std::string& word : words_in(text)) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

TEST(ForeignTools, EachOfTheirCommandsGetsTheNearestOfOurs) {
  for (const ForeignTool& tool : foreign_tools()) {
    for (const ForeignCommand& command : tool.commands) {
      expect_to_exist(command.instead);
      expect_to_exist(command.note);
      const Refusal refusal = refusal_of({words_in(command.known).back(), "-x", "FILE"});
      EXPECT_EQ(refusal.code, 2) << command.known;
      EXPECT_THAT(on_one_line(refusal.err), HasSubstr(fmt::format("did you mean {}, for {}?",
                                                                  command.instead, command.known)));
    }
  }
}

TEST(ForeignTools, EachOfTheirOptionsIsRefusedWithAdvice) {
  for (const ForeignTool& tool : foreign_tools()) {
    for (const ForeignOption& option : tool.options) {
      expect_to_exist(option.advice);
      for (const std::string& verb : words_in(option.verbs))
        for (const std::string_view name : {option.name, option.letter}) {
          if (name.empty()) continue;
          std::vector<std::string> words = {verb, std::string(name), "x"};
          if (verb == "memduel") words.erase(words.begin());
          const Refusal refusal = refusal_of(words);
          EXPECT_EQ(refusal.code, 2) << verb << " " << name;
          const std::string of = tool.name.empty() ? "" : fmt::format(" of {}", tool.name);
          EXPECT_THAT(on_one_line(refusal.err),
                      HasSubstr(fmt::format("unknown option {}{}; {}", name, of, option.advice)))
              << verb;
        }
    }
  }
}

TEST(ForeignTools, CommandsThatNoToolHasGetTheNearestName) {
  EXPECT_THAT(refusal_of({"flame", "x.mdp"}).err, HasSubstr("did you mean \"flamegraph\"?"));
  EXPECT_THAT(refusal_of({"zzzzzz"}).err, HasSubstr("see memduel --help"));
}

TEST(ForeignTools, ProgramsInsteadOfACommandGetTheCommandsThatRunOne) {
  EXPECT_THAT(on_one_line(refusal_of({"/bin/true", "x"}).err),
              HasSubstr("did you mean memduel record -- /bin/true, or memduel measure /bin/true?"));
  EXPECT_THAT(refusal_of({"/dev/null"}).err, HasSubstr("see memduel --help"));
}

TEST(ForeignTools, OptionsBehindTheCommandAreItsOwn) {
  EXPECT_THAT(refusal_of({"measure", "--help=x", "--", "ls", "-col"}).err,
              testing::Not(HasSubstr("benchstat")));
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

/// What docs/coming-from.md has of a tool.
std::string table_of(const ForeignTool& tool) {
  std::string text = fmt::format("| {} | memduel |\n| --- | --- |\n", tool.name);
  for (const ForeignCommand& command : tool.commands)
    text += fmt::format("| `{}` | `{}`{}{} |\n", command.known, command.instead,
                        command.note.empty() ? "" : ": ", cell(command.note));
  for (const ForeignOption& option : tool.options) {
    std::string names;
    for (const std::string_view name : {option.name, option.letter})
      if (!name.empty()) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
    std::string verbs;
    for (const std::string& verb : words_in(option.verbs))
      verbs +=
          fmt::format("{}{}", verbs.empty() ? "" : ", ", verb == "memduel" ? "no command" : verb);
    text += fmt::format("| {} ({}) | {} |\n", names, verbs, cell(option.advice));
  }
  return text;
}

TEST(ForeignTools, AreThoseOfThePage) {
  const std::filesystem::path page = std::filesystem::path(MEMDUEL_SOURCES) / "docs/coming-from.md";
  std::string text = read_text_file(page);
  for (const ForeignTool& tool : foreign_tools()) {
    if (tool.name.empty() || tool.name == "hyperfine") continue;  // docs/hyperfine.md
    const std::string table = table_of(tool);
    const std::size_t begin = text.find(table.substr(0, table.find('\n') + 1));
    ASSERT_NE(begin, std::string::npos) << tool.name;
    const std::size_t end = std::min(text.find("\n\n", begin), text.size() - 1) + 1;
    if (std::getenv("MEMDUEL_UPDATE_GOLDEN") != nullptr)
      text.replace(begin, end - begin, table);
    else
      EXPECT_EQ(text.substr(begin, end - begin), table);
  }
  if (std::getenv("MEMDUEL_UPDATE_GOLDEN") != nullptr) write_file_atomically(page, text);
}

}  // namespace
}  // namespace memduel::cli
