#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cbramod/prune.h"
#include "test_checkpoint_files.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Text : public testing::Test {
 protected:
  void SetUp() override {
    put_aged(root_ / "epoch1_kappa_0.5.pth", 30, 1024);
    put_aged(root_ / "epoch2_kappa_0.9.pth", 20, 2048);
    put_aged(root_ / "t/epoch3_kappa_nan.pth", 10.5, 1024);
    put_aged(root_ / "t/epoch4_acc_0.25.pth", 9, 1024);
    put_aged(root_ / "pretrained.pth", 9, 1024);
  }

  /// The first line.
  [[nodiscard]] std::string place(const char* below = "") const {
    return "directory: " + fs::canonical(root_ / below).string() + "\n";
  }

  ScratchDirectory scratch_{testing::TempDir(), "text"};
  fs::path root_ = scratch_.path();
  RetentionRules rules_{"kappa", Better::highest, 1, 7};
};

TEST_F(Text, SaysWhatWouldGoAndWhatStays) {
  EXPECT_EQ(describe_plan(plan_prune(root_, rules_, kTestNow)),
            place() +
                "kept in each directory: the 1 with the highest kappa, the newest, and all not "
                "older than 7 days\n"
                "would remove epoch1_kappa_0.5.pth: kappa 0.5, 30.0 days old, 1.00 KiB\n"
                "would be freed: 1 checkpoint, 1.00 KiB\n"
                "kept: 3 checkpoints, 4.00 KiB, 1 of them without kappa\n"
                "ignored: pretrained.pth: neither a checkpoint name nor a sidecar\n");
}

TEST_F(Text, SaysWhatWent) {
  const PrunePlan plan = plan_prune(root_, rules_, kTestNow);
  EXPECT_EQ(describe_pruned(plan, carry_out(plan)),
            place() +
                "kept in each directory: the 1 with the highest kappa, the newest, and all not "
                "older than 7 days\n"
                "removed epoch1_kappa_0.5.pth: kappa 0.5, 30.0 days old, 1.00 KiB\n"
                "freed: 1 checkpoint, 1.00 KiB\n"
                "kept: 3 checkpoints, 4.00 KiB, 1 of them without kappa\n"
                "ignored: pretrained.pth: neither a checkpoint name nor a sidecar\n");
}

TEST_F(Text, SumsUpADirectory) {
  put_aged(root_ / "t/epoch5_f1_nan.pth", 10.2, 0);
  EXPECT_EQ(describe_tree(read_checkpoints(root_, Subdirectories::enter), kTestNow),
            place() +
                "5 checkpoints, 5.00 KiB in 2 directories\n"
                "oldest: epoch1_kappa_0.5.pth, 30.0 days old\n"
                "newest: t/epoch4_acc_0.25.pth, 9.0 days old\n"
                "acc (1): 0.25 in t/epoch4_acc_0.25.pth to 0.25 in t/epoch4_acc_0.25.pth\n"
                "f1 (1): no finite value\n"
                "kappa (3): 0.5 in epoch1_kappa_0.5.pth to 0.9 in epoch2_kappa_0.9.pth\n"
                "ignored: pretrained.pth: neither a checkpoint name nor a sidecar\n");
}

TEST_F(Text, OfAnEmptyDirectorySaysNothingMore) {
  fs::create_directory(root_ / "empty");
  EXPECT_EQ(describe_tree(read_checkpoints(root_ / "empty", Subdirectories::enter), kTestNow),
            place("empty") + "0 checkpoints, 0 B in 0 directories\n");
}

TEST_F(Text, SaysThatAFileWithAnotherHardLinkFreesNothing) {
  fs::create_hard_link(root_ / "epoch1_kappa_0.5.pth", root_ / "kept.pth.bak");
  const std::string text = describe_plan(plan_prune(root_, rules_, kTestNow));
  EXPECT_THAT(text, HasSubstr("1.00 KiB, 0 B of it freed because another hard link exists\n"
                              "would be freed: 1 checkpoint, 0 B\n"
                              "kept: 3 checkpoints, 4.00 KiB"));
}

TEST_F(Text, LetsNoNameCommandTheTerminal) {
  const std::string bad = "\x1B]0;title\x07\u009B31m\n\u202E";
  put_aged(root_ / ("a" + bad + ".pth"), 40, 8);
  write_file_atomically(root_ / ("a" + bad + ".pth.json"), R"({"kappa": 0.1, "b\u001b[2J": 1})");
  put_aged(root_ / (bad + ".txt"), 40, 8);
  const CheckpointTree tree = read_checkpoints(root_, Subdirectories::enter);
  const std::string both =
      describe_plan(plan_prune(root_, rules_, kTestNow)) + describe_tree(tree, kTestNow);
  for (const char* sign : {"\x1B", "\x07", "\u009B", "\u202E"})
    EXPECT_THAT(both, Not(HasSubstr(sign)));
  EXPECT_THAT(both, AllOf(HasSubstr("would remove a ]0;title  31m .pth: kappa 0.1"),
                          HasSubstr("b [2J (1): 1 in"), HasSubstr("ignored:  ]0;title  31m .txt")));
}

TEST_F(Text, NamesTenThatAreLeftAloneAndCountsTheRest) {
  fs::create_directory(root_ / "logs");
  for (int i = 0; i < 13; ++i) put_aged(root_ / "logs" / ("log" + std::to_string(i)), 1);
  const std::string text =
      describe_tree(read_checkpoints(root_ / "logs", Subdirectories::enter), kTestNow);
  EXPECT_TRUE(text.ends_with("ignored: 3 more\n")) << text;
}

}  // namespace
}  // namespace memduel
