#include "gate_options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "generate.h"
#include "util/file.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;

// man git-bisect: "exit code between 1 and 127 (inclusive), except 125, if the current source code
// is bad"; 125 is skipped, "any other exit code will abort the bisect process".
TEST(BisectCode, IsWhatGitTakes) {
  EXPECT_EQ(bisect_code(0), 0);
  EXPECT_EQ(bisect_code(1), 1);
  for (const int skipped : {3, 4, 5}) EXPECT_EQ(bisect_code(skipped), 125);
  for (const int ends : {2, 130, 143}) EXPECT_GE(bisect_code(ends), 128);
}

TEST(ExitCodes, AreOneTableInEveryHelpThatGates) {
  CLI::App app{"about", "memduel"};
  Action action;
  prepare(app, exit_code_table());
  add_verbs(app, action);
  std::string manual = manual_page(app);
  std::erase(manual, '\\');  // roff's own hyphens
  for (const char* verb : {"run", "compare", "merge", "check", "ablate"})
    EXPECT_THAT(app.get_subcommand(verb)->help(), HasSubstr(exit_code_table())) << verb;
  EXPECT_THAT(manual, HasSubstr(exit_code_table()));
}

TEST(ExitCodes, AreThoseOfTheDocs) {
  const std::string docs = read_text_file(MEMDUEL_SOURCES "/docs/ci.md");
  for (const ExitCodeMeaning& one : exit_code_meanings())
    EXPECT_THAT(docs, HasSubstr(fmt::format("| {} | {}", one.code, one.meaning)));
}

}  // namespace
}  // namespace memduel::cli
