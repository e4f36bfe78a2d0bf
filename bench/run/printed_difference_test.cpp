#include <gtest/gtest.h>

#include "findings.h"
#include "model/run_directory.h"
#include "support/small_experiment.h"
#include "util/file.h"

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

/// Two blocks in which what a and b print varies by itself.
class Variations : public TestFolder {
 protected:
  Equivalence compare(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto logs = folder_ / kLogsFolder;
    std::filesystem::create_directory(logs);
    RunData run;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (const auto& [arm, text] : {std::pair{"a", a[i]}, {"b", b[i]}}) {
        TrialData& trial = run.trials.emplace_back();
        trial.id = static_cast<std::int64_t>(run.trials.size());
        trial.block = static_cast<int>(i) + 1;
        trial.arm = arm;
        trial.files[kStandardOutput] = text;
        trial.roles.emplace_back().role = "command";
        write_file_atomically(logs / (std::to_string(trial.id) + "-command.stdout"), text);
      }
    }
    Results results;
    Equivalence& compared = results.equivalence.emplace_back();
    compared.baseline = "a";
    compared.candidate = "b";
    compared.files = {{kStandardOutput, 2, 0, {}, {}, {}}};
    compared.files[0].variation.emplace();
    add_printed_differences(results, run, folder_);
    return results.equivalence[0];
  }
};

TEST_F(Variations, AreLeftOutLineByLine) {
  const Equivalence clock = compare({"sum 45\nat 8:01\n", "sum 45\nat 8:02\n"},
                                    {"sum 45\nat 8:03\n", "sum 45\nat 8:04\n"});
  const Variation& varies = *clock.files[0].variation;
  EXPECT_EQ(varies.lines, 2);
  EXPECT_EQ(varies.varying_lines, 1);
  EXPECT_EQ(varies.first_varying, std::vector{2});
  EXPECT_EQ(varies.differing_lines, 0);
  EXPECT_FALSE(clock.files[0].first_difference);
  EXPECT_FALSE(clock.bit_identical);
}

TEST_F(Variations, DoNotHideALineThatDiffers) {
  const Equivalence other =
      compare({"8:01\nsum 45\n", "8:02\nsum 45\n"}, {"8:03\nsum 46\n", "8:03\nsum 46\n"});
  EXPECT_EQ(other.files[0].variation->differing_lines, 1);
  ASSERT_TRUE(other.files[0].first_difference);
  EXPECT_EQ(other.files[0].first_difference->line, 2);
  EXPECT_EQ(other.files[0].first_difference->candidate, "sum 46");
  EXPECT_EQ(other.bit_identical, false);
}

TEST_F(Variations, OfTheNumberOfLinesLeaveNothingToCompare) {
  EXPECT_EQ(compare({"1\n", "1\n2\n"}, {"1\n", "1\n"}).files[0].variation->lines, 0);
  EXPECT_EQ(compare({"1\n", "2\n"}, {"1\n3\n", "1\n3\n"}).files[0].variation->lines, 0);
}

}  // namespace
}  // namespace memduel
