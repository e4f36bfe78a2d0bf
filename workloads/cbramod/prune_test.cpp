#include "cbramod/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "checkpoint_name.h"
#include "test_checkpoint_files.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

class KnownScore : public testing::TestWithParam<const char*> {};

TEST_P(KnownScore, IsBestAtItsHighest) {
  EXPECT_TRUE(is_known_score(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(KnownScores, KnownScore,
                         testing::Values("kappa", "acc", "val_acc", "Val_Accuracy", "F1",
                                         "f1_macro", "test/auroc", "roc-auc", "balanced_accuracy",
                                         "mAP", "map50_95", "top5_acc", "acc_top_1", "bleu4",
                                         "cohen_kappa", "precision", "recall", "mIoU", "dice",
                                         "mcc", "val_score", "R2"));

/// A loss, a part of a word, a score that is best at its lowest, no word at all.
class UnknownScore : public testing::TestWithParam<const char*> {};

TEST_P(UnknownScore, MayBeBestAtItsLowest) {
  EXPECT_FALSE(is_known_score(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(KnownScores, UnknownScore,
                         testing::Values("loss", "val_Loss", "val_mse", "mae", "rmse", "nll", "ppl",
                                         "wer", "bce", "fid", "perplexity", "err", "mape",
                                         "acc_loss", "accuracy_error", "brier_score", "scored",
                                         "recalled", "val", "top1", "step", "f05", "", "_", "42"));

using testing::ElementsAre;
using testing::IsEmpty;

/// Epochs 0, 1, … with these kappas, a day apart, the last one 30 days old.
std::vector<Checkpoint> series(const std::vector<double>& kappas) {
  std::vector<Checkpoint> checkpoints;
  for (std::size_t i = 0; i < kappas.size(); ++i) {
    const auto days = static_cast<std::int64_t>(30 + kappas.size() - 1 - i);
    const DirectoryEntry file{"epoch" + std::to_string(i), EntryKind::file, 1,
                              kTestNow - days * kDayNs, i};
    checkpoints.push_back(
        {file, std::nullopt, static_cast<std::int64_t>(i), {{"kappa", kappas[i]}}});
  }
  return checkpoints;
}

std::vector<std::size_t> removed(const std::vector<Checkpoint>& checkpoints, std::size_t keep,
                                 double days = 7, Better better = Better::highest) {
  return superfluous_checkpoints(checkpoints, {"kappa", better, keep, days}, kTestNow);
}

// The newest two are 4 and 5; retention by age alone would lose the best two, 2 and 3.
TEST(Retention, OfARisingAndFallingSeriesTheBestStay) {
  EXPECT_THAT(removed(series({0.1, 0.3, 0.8, 0.7, 0.4, 0.2}), 2), ElementsAre(0, 1, 4));
}

// As CBraMod's code does: the best two are gone, and nobody asks for age.
TEST(Retention, ByAgeTheNewestStay) {
  EXPECT_THAT(
      superfluous_checkpoints(series({0.1, 0.3, 0.8, 0.7, 0.4, 0.2}),
                              {"kappa", Better::highest, 2, 1000, Ranking::by_age}, kTestNow),
      ElementsAre(0, 1, 2, 3));
}

TEST(Retention, LowestCanBeTheBest) {
  EXPECT_THAT(removed(series({0.1, 0.3, 0.8, 0.7}), 1, 7, Better::lowest), ElementsAre(1, 2));
}

TEST(Retention, TheNewestStaysThoughItIsTheWorst) {
  EXPECT_THAT(removed(series({0.9, 0.8, 0.1}), 1), ElementsAre(1));
}

TEST(Retention, NothingIsRemovedAtTheLimitOfAge) {
  EXPECT_THAT(removed(series({0.5, 0.9, 0.8}), 1, 32), IsEmpty());
  EXPECT_THAT(removed(series({0.5, 0.9, 0.8}), 1, 31.999), ElementsAre(0));
}

TEST(Retention, WhatComesFromTheFutureStays) {
  std::vector<Checkpoint> checkpoints = series({0.1, 0.2, 0.3});
  for (Checkpoint& checkpoint : checkpoints) checkpoint.file.modified_ns += 100 * kDayNs;
  EXPECT_THAT(removed(checkpoints, 1, 0), IsEmpty());
}

TEST(Retention, OfTiesTheNewerIsBetter) {
  EXPECT_THAT(removed(series({0.5, 0.5, 0.5, 0.4}), 2), ElementsAre(0));
}

TEST(Retention, OfEqualTimesTheLaterEpochIsNewer) {
  std::vector<Checkpoint> checkpoints = series({0.9, 0.5, 0.5, 0.4});
  for (Checkpoint& checkpoint : checkpoints) checkpoint.file.modified_ns = kTestNow - 30 * kDayNs;
  EXPECT_THAT(removed(checkpoints, 2), ElementsAre(1));
}

TEST(Retention, WhatIsNotANumberIsWorst) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(removed(series({nan, 0.1, infinity, 0.2, 0.05}), 2), ElementsAre(0, 2));
}

TEST(Retention, ACheckpointWithoutTheMetricStays) {
  std::vector<Checkpoint> checkpoints = series({0.1, 0.2, 0.3});
  checkpoints[0].metrics = {{"acc", 0.1}};
  EXPECT_THAT(removed(checkpoints, 1), ElementsAre(1));
}

TEST(Retention, TheBestStaysWhateverIsAskedFor) {
  EXPECT_THAT(removed(series({0.9, 0.1, 0.2}), 0), ElementsAre(1));
}

TEST(Retention, OfNothingNothingGoes) {
  EXPECT_THAT(removed({}, 5), IsEmpty());
}

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
                    HasSubstr("found acc, kappa"), HasSubstr("did you mean kappa?")));
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
              AllOf(HasSubstr("a/foo.pth: neither a checkpoint name nor a sidecar; found no "
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
              AllOf(HasSubstr("epoch1_kappa_0.1.pth"), HasSubstr("changed while")));
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
