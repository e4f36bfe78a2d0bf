#include "experiment/findings/printed_difference.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/run_directory.h"
#include "experiment/config/test_support.h"

namespace memduel {
namespace {

TEST(FirstDifference, IsOfTheFirstLineThatDiffers) {
  const auto found = first_difference("same\nsum 45\nlast\n", "same\nsum 45.0\nother\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->line, 2);
  EXPECT_EQ(found->baseline, "sum 45");
  EXPECT_EQ(found->candidate, "sum 45.0");
}

TEST(FirstDifference, IsALineThatOneTextLacks) {
  const auto found = first_difference("a\nb\n", "a\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->line, 2);
  EXPECT_EQ(found->baseline, "b");
  EXPECT_EQ(found->candidate, "");
}

TEST(FirstDifference, PassesOverPaths) {
  EXPECT_FALSE(first_difference("wrote /tmp/a/x now\n", "wrote /tmp/b/x now\n"));
  EXPECT_TRUE(first_difference("wrote /tmp/a/x now\n", "wrote /tmp/b/x then\n"));
  EXPECT_TRUE(first_difference("1 2\n", "1 2 3\n"));
}

TEST(FirstDifference, IsShortWellFormedText) {
  const auto found = first_difference(std::string(500, 'x'), "\xff");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->baseline, std::string(120, 'x') + "…");
  EXPECT_EQ(found->candidate, "\uFFFD");
}

using PrintedDifferences = TestFolder;

TEST_F(PrintedDifferences, AreReadFromTheLogsOfOneBlock) {
  const auto logs = folder_ / kLogsFolder;
  std::filesystem::create_directory(logs);
  RunData run;
  for (const auto& [id, block, arm, text] :
       {std::tuple{3, 1, "a", "1\n"}, {4, 1, "b", "1\n"}, {5, 2, "b", "2\n"}, {6, 2, "a", "1\n"}}) {
    TrialData trial;
    trial.id = id;
    trial.block = block;
    trial.arm = arm;
    trial.roles.emplace_back().role = "command";
    run.trials.push_back(trial);
    write_file_atomically(logs / (std::to_string(id) + "-command.stdout"), text);
  }
  Results results;
  Equivalence compared;
  compared.baseline = "a";
  compared.candidate = "b";
  compared.files = {{kStandardOutput, 2, 1, {}, {}, {}}, {"model", 2, 0, {}, {}, {}}};
  results.equivalence = {compared};
  add_printed_differences(results, run, folder_);
  const auto& files = results.equivalence[0].files;
  ASSERT_TRUE(files[0].first_difference);
  EXPECT_EQ(files[0].first_difference->baseline, "1");
  EXPECT_EQ(files[0].first_difference->candidate, "2");
  EXPECT_FALSE(files[1].first_difference);
  std::filesystem::remove_all(logs);
  add_printed_differences(results, run, folder_);
  EXPECT_FALSE(results.equivalence[0].files[0].first_difference) << "the logs are gone";
}

}  // namespace
}  // namespace memduel
