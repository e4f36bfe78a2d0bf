#include "cli/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "generate.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;

struct Verbs {
  CLI::App app{"about", "memduel"};
  Action action;
  Verbs() {
    prepare(app, "");
    add_verbs(app, action);
  }
  [[nodiscard]] std::vector<const CLI::App*> shown() const {
    std::vector<const CLI::App*> verbs;
    for (const CLI::App* verb : app.get_subcommands(nullptr))
      if (!verb->get_group().empty()) verbs.push_back(verb);
    return verbs;
  }
};

TEST(Verbs, EachCommandShowsAnExample) {
  const Verbs verbs;
  for (const CLI::App* verb : verbs.shown())
    EXPECT_THAT(verb->get_footer(), HasSubstr("memduel " + verb->get_name())) << verb->get_name();
}

TEST(Verbs, HelpFitsEightyColumns) {
  const Verbs verbs;
  for (const CLI::App* verb : verbs.shown()) {
    std::istringstream lines(verb->help());
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80U) << verb->get_name() << ": " << line;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

TEST(Verbs, OptionsFitOneLineEach) {
  const Verbs verbs;
  for (const CLI::App* verb : verbs.shown()) {
    const std::string help = verb->help();
    std::size_t options = 0;
    for (const CLI::Option* option : verb->get_options()) {
      if (!option->nonpositional()) continue;
      ++options;
      const std::string name = "--" + option->get_lnames().front();
      const std::string description = option->get_description();
      const bool is_on_one_line = std::ranges::any_of(lines_of(help), [&](const std::string& line) {
        return line.starts_with("  ") && line.find(name) < line.find(description) &&
               line.find(description) != std::string::npos;
      });
      EXPECT_TRUE(is_on_one_line) << verb->get_name() << " " << name;
    }
    const bool is_grouped = help.find("\nOutput:\n") != std::string::npos;
    EXPECT_EQ(is_grouped, options > 8) << verb->get_name();
  }
}

TEST(Verbs, DescriptionsBeginInLowerCaseWithoutFullStop) {
  const Verbs verbs;
  for (const CLI::App* verb : verbs.shown()) {
    EXPECT_TRUE(std::islower(verb->get_description().front())) << verb->get_name();
    for (const CLI::Option* option : verb->get_options()) {
      const std::string& text = option->get_description();
      if (!text.empty()) {
        EXPECT_TRUE(std::islower(text.front())) << text;
        EXPECT_FALSE(text.ends_with('.')) << text;
      }
    }
  }
}

TEST(Verbs, EveryOptionHasADescription) {
  const Verbs verbs;
  for (const CLI::App* verb : verbs.shown())
    for (const CLI::Option* option : verb->get_options())
      EXPECT_FALSE(option->get_description().empty())
          << verb->get_name() << " " << option->get_name();
}

TEST(ShellFiles, NameEveryVerbAndLongOption) {
  const Verbs verbs;
  std::string manual = manual_page(verbs.app);
  std::erase(manual, '\\');  // roff's own hyphens
  for (const std::string& completion :
       {bash_completion(verbs.app), zsh_completion(verbs.app), fish_completion(verbs.app)}) {
    for (const CLI::App* verb : verbs.shown()) {
      EXPECT_THAT(completion, HasSubstr(verb->get_name()));
      for (const CLI::Option* option : verb->get_options())
        for (const std::string& name : option->get_lnames()) {
          if (name == option->get_lnames().front()) {  // the others are those of other programs
            EXPECT_THAT(completion, HasSubstr(name)) << verb->get_name();
          }
          EXPECT_THAT(manual, HasSubstr(name)) << verb->get_name();
        }
    }
    EXPECT_THAT(completion, HasSubstr(" measure.repeats ")) << "a key that --set takes";
  }
}

TEST(AddVerb, RunsWithTheArgumentsThatWereParsed) {
  struct Arguments {
    int number = 1;
  };
  CLI::App app{"about", "memduel"};
  Action action;
  const auto [verb, arguments] = add_verb(
      app, action, "twice", "help", +[](const Arguments& given) { return 2 * given.number; });
  verb->add_option("--number", arguments->number);
  app.parse("twice --number 21");
  EXPECT_EQ(action(), 42);
}

}  // namespace
}  // namespace memduel::cli
