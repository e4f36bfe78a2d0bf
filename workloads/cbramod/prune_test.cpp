#include "training/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <ctime>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_directory.h"
#include "training/checkpoint_name.h"
#include "training/test_checkpoint_files.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Permissions bind this process too, while it lives: root has none.
class AsNobody {
 public:
  AsNobody() {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ADD_FAILURE() << "cannot become nobody";
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (::getuid() == 0 && ::seteuid(0) != 0) ADD_FAILURE() << "cannot become root again";
  }
};

/// A file that not even root may remove, while this lives.
class Immutable {
 public:
  explicit Immutable(const fs::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    is_so_ = set(FS_IMMUTABLE_FL);
  }
  Immutable(const Immutable&) = delete;
  Immutable& operator=(const Immutable&) = delete;
  ~Immutable() {
    if (is_so_ && !set(0)) ADD_FAILURE() << "cannot make it mutable again";
  }
  /// Not every user and not every file system can have it so.
  [[nodiscard]] bool is_so() const { return is_so_; }

 private:
  [[nodiscard]] bool set(int flags) const {
    return ::ioctl(file_.get(), FS_IOC_SETFLAGS, &flags) == 0;
  }
  Descriptor file_;
  bool is_so_ = false;
};

class Prune : public testing::Test {
 protected:
  void SetUp() override { fs::permissions(root_, fs::perms(0755)); }
  [[nodiscard]] Error refusal(const RetentionRules& rules) const {
    try {
      plan_prune(root_, rules, kTestNow);
    } catch (const Error& error) {
      return error;
    }
    return {ExitCode::ok, "no error"};
  }

  ScratchDirectory scratch_{testing::TempDir(), "prune"};
  fs::path root_ = scratch_.path();
  RetentionRules rules_{"kappa", Better::highest, 1, 7};
};

TEST_F(Prune, KeepsTheBestAndTheNewestOfEveryDirectory) {
  for (const char* trial : {"a", "b/c"}) {
    put_aged(root_ / trial / "epoch1_kappa_0.9.pth", 30);
    put_aged(root_ / trial / "epoch2_kappa_0.5.pth", 29, 1000);
    put_aged(root_ / trial / "epoch3_kappa_0.1.pth", 28);
  }
  const PrunePlan plan = plan_prune(root_, rules_, kTestNow);
  EXPECT_EQ(removed_bytes(plan.removals), 2000);
  EXPECT_EQ(files_below(root_).size(), 6U);
  const Pruned pruned = carry_out(plan);
  EXPECT_EQ(removed_bytes(pruned.removed), 2000);
  EXPECT_THAT(pruned.failures, IsEmpty());
  EXPECT_THAT(files_below(root_),
              ElementsAre("a/epoch1_kappa_0.9.pth", "a/epoch3_kappa_0.1.pth",
                          "b/c/epoch1_kappa_0.9.pth", "b/c/epoch3_kappa_0.1.pth"));
}

TEST_F(Prune, TakesTheSidecarWithItsCheckpoint) {
  put_aged(root_ / "a.pth", 30);
  put_aged(root_ / "b.pth", 29);
  put_aged(root_ / "c.pth", 28);
  write_file_atomically(root_ / "a.pth.json", R"({"kappa": 0.1})");
  write_file_atomically(root_ / "b.pth.json", R"({"kappa": 0.2})");
  write_file_atomically(root_ / "c.pth.json", R"({"kappa": 0.3})");
  prune_now(root_, rules_);
  EXPECT_THAT(files_below(root_), ElementsAre("c.pth", "c.pth.json"));
}

TEST_F(Prune, AMetricThatNoneHasDeletesNothingAndNamesTheNearest) {
  put_aged(root_ / "epoch1_kappa_0.9_acc_0.1.pth", 30);
  put_aged(root_ / "epoch2_kappa_0.5_acc_0.2.pth", 30);
  rules_.metric = "kapa";
  const Error error = refusal(rules_);
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.message(),
              AllOf(HasSubstr(root_.string()), HasSubstr("\"kapa\" among 2"),
                    HasSubstr("they have acc, kappa"), HasSubstr("did you mean kappa?")));
}

TEST_F(Prune, AnEmptyDirectoryIsNoError) {
  EXPECT_THAT(prune_now(root_, rules_).removed, IsEmpty());
}

TEST_F(Prune, ADirectoryThatCannotBeReadStopsItBeforeAnythingGoes) {
  for (const char* name : {"epoch1_kappa_0.1.pth", "epoch2_kappa_0.2.pth", "epoch3_kappa_0.3.pth"})
    put_aged(root_ / "a" / name, 30);
  fs::create_directory(root_ / "z");
  fs::permissions(root_ / "z", fs::perms(0));
  const AsNobody nobody;
  const Error error = refusal(rules_);
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("z: cannot open"), HasSubstr("Permission denied")));
}

TEST_F(Prune, ADirectoryThatCannotBeWrittenStopsItBeforeAnythingGoes) {
  for (const char* directory : {"a", "z"})
    for (const char* name : {"epoch1_kappa_0.1.pth", "epoch2_kappa_0.2.pth"})
      put_aged(root_ / directory / name, 30);
  fs::permissions(root_ / "a", fs::perms(0777));
  fs::permissions(root_ / "z", fs::perms(0555));
  const AsNobody nobody;
  const Error error = refusal(rules_);
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_THAT(error.message(), AllOf(HasSubstr((root_ / "z").string()), HasSubstr("no permission"),
                                     HasSubstr("nothing was removed")));
}

TEST_F(Prune, AStickyDirectoryWithFilesOfOthersStopsItBeforeAnythingGoes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  for (const char* name : {"epoch1_kappa_0.1.pth", "epoch2_kappa_0.2.pth", "epoch3_kappa_0.3.pth"})
    put_aged(root_ / name, 30);
  fs::permissions(root_, fs::perms(01777));
  ASSERT_EQ(::chown((root_ / "epoch1_kappa_0.1.pth").c_str(), 65534, 65534), 0);
  {
    const AsNobody nobody;
    const Error error = refusal(rules_);
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.message(),
                AllOf(HasSubstr((root_ / "epoch2_kappa_0.2.pth").string()),
                      HasSubstr("no permission"), HasSubstr("nothing was removed")));
  }
  EXPECT_EQ(plan_prune(root_, rules_, kTestNow).removals.size(), 2U);  // root may
  ASSERT_EQ(::chown((root_ / "epoch2_kappa_0.2.pth").c_str(), 65534, 65534), 0);
  const AsNobody nobody;
  EXPECT_THAT(prune_now(root_, rules_).failures, IsEmpty());
  EXPECT_THAT(files_below(root_), ElementsAre("epoch3_kappa_0.3.pth"));
}

TEST_F(Prune, ASidecarOfAnotherOwnerStopsItInAStickyDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  for (const char* name : {"epoch1_kappa_0.1.pth", "epoch2_kappa_0.2.pth"})
    put_aged(root_ / name, 30);
  write_file_atomically(root_ / "epoch1_kappa_0.1.pth.json", "{}");
  fs::permissions(root_, fs::perms(01777));
  ASSERT_EQ(::chown((root_ / "epoch1_kappa_0.1.pth").c_str(), 65534, 65534), 0);
  const AsNobody nobody;
  EXPECT_THAT(refusal(rules_).message(), HasSubstr("epoch1_kappa_0.1.pth.json: no permission"));
}

TEST_F(Prune, AnImmutableFileStopsItBeforeAnythingGoes) {
  for (const char* name : {"epoch1_kappa_0.1.pth", "epoch2_kappa_0.2.pth", "epoch3_kappa_0.3.pth"})
    put_aged(root_ / name, 30);
  const Immutable file(root_ / "epoch2_kappa_0.2.pth");
  if (!file.is_so()) GTEST_SKIP() << "cannot make a file immutable here";
  EXPECT_THAT(refusal(rules_).message(),
              AllOf(HasSubstr("epoch2_kappa_0.2.pth"), HasSubstr("no permission")));
}

TEST_F(Prune, FilesThatEndAsCheckpointsWithoutAKnownNameAreAnError) {
  put_aged(root_ / "a/foo.pth", 30);
  put_aged(root_ / "notes.txt", 30);
  const Error error = refusal(rules_);
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.message(),
              AllOf(HasSubstr("a/foo.pth: not a checkpoint's name, and no sidecar; found no "
                              "checkpoint in " +
                              fs::canonical(root_).string()),
                    HasSubstr("expected epoch12_kappa_0.71.pth")));
  put_aged(root_ / "b/epoch1_kappa_0.1.pth", 30);
  EXPECT_THAT(prune_now(root_, rules_).removed, IsEmpty());
}

TEST_F(Prune, PrunesWhatTheKernelResolvesTheNameTo) {
  for (const char* directory : {"here/x", "there/x"})
    for (const char* name : {"epoch1_kappa_0.1.pth", "epoch2_kappa_0.2.pth"})
      put_aged(root_ / directory / name, 30);
  fs::create_directory(root_ / "there/target");
  fs::create_directory_symlink("../there/target", root_ / "here/link");
  const PrunePlan plan = plan_prune(root_ / "here/link/../x", rules_, kTestNow);
  EXPECT_EQ(plan.tree.root, fs::canonical(root_ / "there/x"));
  carry_out(plan);
  EXPECT_EQ(files_below(root_ / "here/x").size(), 2U);
  EXPECT_THAT(files_below(root_ / "there/x"), ElementsAre("epoch2_kappa_0.2.pth"));
}

TEST_F(Prune, AFileWithAnotherHardLinkFreesNothing) {
  put_aged(root_ / "epoch1_kappa_0.1.pth", 30, 1000);
  put_aged(root_ / "epoch2_kappa_0.2.pth", 30, 1000);
  put_aged(root_ / "epoch3_kappa_0.3.pth", 30, 1000);
  fs::create_hard_link(root_ / "epoch2_kappa_0.2.pth", root_ / "epoch0_kappa_0.0.pth");
  const Pruned pruned = prune_now(root_, rules_);
  EXPECT_THAT(files_below(root_), ElementsAre("epoch3_kappa_0.3.pth"));
  EXPECT_EQ(removed_bytes(pruned.removed), 3000);
  EXPECT_EQ(freed_bytes(pruned.removed), 1000);
}

TEST_F(Prune, WhatChangedSinceThePlanStays) {
  put_aged(root_ / "epoch1_kappa_0.1.pth", 30);
  put_aged(root_ / "epoch2_kappa_0.2.pth", 30);
  put_aged(root_ / "epoch3_kappa_0.3.pth", 30);
  const PrunePlan plan = plan_prune(root_, rules_, kTestNow);
  put_aged(root_ / "epoch1_kappa_0.1.pth", 0);
  const Pruned pruned = carry_out(plan);
  EXPECT_THAT(files_below(root_), ElementsAre("epoch1_kappa_0.1.pth", "epoch3_kappa_0.3.pth"));
  ASSERT_EQ(pruned.failures.size(), 1U);
  EXPECT_THAT(pruned.failures[0],
              AllOf(HasSubstr("epoch1_kappa_0.1.pth"), HasSubstr("changed since")));
}

TEST_F(Prune, WhoseSidecarChangedSinceThePlanStays) {
  for (const char* name : {"a.pth", "b.pth", "c.pth", "d.pth"}) {
    put_aged(root_ / name, 30);
    write_file_atomically(root_ / (std::string(name) + ".json"), R"({"kappa": 0.1})");
  }
  put_aged(root_ / "epoch1_kappa_0.1.pth", 30);
  put_aged(root_ / "epoch2_kappa_0.9.pth", 1);
  const PrunePlan plan = plan_prune(root_, rules_, kTestNow);
  ASSERT_EQ(plan.removals.size(), 5U);
  write_file_atomically(root_ / "a.pth.json", R"({"kappa": 0.95})");
  fs::remove(root_ / "b.pth.json");
  fs::remove(root_ / "c.pth.json");
  fs::create_symlink("d.pth.json", root_ / "c.pth.json");
  write_file_atomically(root_ / "epoch1_kappa_0.1.pth.json", R"({"kappa": 0.95})");
  const Pruned pruned = carry_out(plan);
  EXPECT_EQ(pruned.failures.size(), 4U);
  ASSERT_EQ(pruned.removed.size(), 1U);
  EXPECT_EQ(pruned.removed[0].checkpoint.file.name, "d.pth");
  for (const char* name : {"a.pth", "b.pth", "c.pth", "epoch1_kappa_0.1.pth"})
    EXPECT_TRUE(fs::exists(root_ / name)) << name;
}

TEST_F(Prune, ADirectoryThatBecameALinkLeadsNowhere) {
  const ScratchDirectory elsewhere(testing::TempDir(), "elsewhere");
  for (const fs::path& root : {root_ / "a", elsewhere.path()})
    for (const char* name : {"epoch1_kappa_0.1.pth", "epoch2_kappa_0.2.pth"})
      put_aged(root / name, 30);
  const PrunePlan plan = plan_prune(root_, rules_, kTestNow);
  ASSERT_EQ(plan.removals.size(), 1U);
  fs::rename(root_ / "a", root_ / "b");
  fs::create_directory_symlink(elsewhere.path(), root_ / "a");
  const Pruned pruned = carry_out(plan);
  EXPECT_THAT(pruned.removed, IsEmpty());
  EXPECT_EQ(pruned.failures.size(), 1U);
  EXPECT_EQ(files_below(elsewhere.path()).size(), 2U);
  EXPECT_EQ(files_below(root_ / "b").size(), 2U);
}

// CPU time: under load the time that passes says nothing about the pruning.
TEST_F(Prune, OfTenThousandFilesTakesLessThanASecond) {
  for (int trial = 0; trial < 10; ++trial)
    for (int epoch = 0; epoch < 1000; ++epoch)
      put_aged(root_ / ("trial" + std::to_string(trial)) /
                   ("epoch" + std::to_string(epoch) + "_kappa_0." + std::to_string(epoch) + ".pth"),
               30 - epoch * 0.001, 0);
  const std::clock_t before = std::clock();
  const Pruned pruned = prune_now(root_, {"kappa", Better::highest, 5, 7});
  const double cpu_seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_EQ(pruned.removed.size(), 10U * (1000 - 5));
  EXPECT_LE(cpu_seconds, 1.0);
  RecordProperty("cpu_seconds", std::to_string(cpu_seconds));
}

TEST_F(Prune, SavingWritesAndPrunes) {
  const fs::path directory = root_ / "new/folder";
  const RetentionRules rules{"kappa", Better::highest, 2, 0};
  const double kappas[] = {0.1, 0.8, 0.7, 0.3, 0.2};
  for (int epoch = 0; epoch < 5; ++epoch) {
    const double kappa = kappas[epoch];
    save_checkpoint(directory, make_checkpoint_name({epoch, {{"kappa", kappa}}}), "weights", rules);
  }
  EXPECT_THAT(files_below(directory),
              ElementsAre("epoch1_kappa_0.80000.pth", "epoch2_kappa_0.70000.pth",
                          "epoch4_kappa_0.20000.pth"));
  EXPECT_EQ(read_file(directory / "epoch4_kappa_0.20000.pth"), "weights");
}

TEST_F(Prune, SavingLeavesDirectoriesBelowAlone) {
  put_aged(root_ / "below/epoch1_kappa_0.1.pth", 30);
  put_aged(root_ / "below/epoch2_kappa_0.2.pth", 30);
  save_checkpoint(root_, "epoch3_kappa_0.3.pth", "weights", rules_);
  EXPECT_EQ(files_below(root_).size(), 3U);
}

}  // namespace
}  // namespace memduel
