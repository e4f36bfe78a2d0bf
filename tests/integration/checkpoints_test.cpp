// memduel checkpoints, as a user calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

class Checkpoints : public testing::Test {
 protected:
  void SetUp() override {
    put("epoch1_kappa_0.50000.pth", 30);
    put("epoch2_kappa_0.90000.pth", 20);
    put("epoch3_kappa_0.10000.pth", 10);
  }
  void put(const std::string& name, int days) const {
    fs::create_directories(place_.path("run"));
    const fs::path path = place_.file("run/" + name, "weights");
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
  }
  [[nodiscard]] Finished run(std::vector<std::string> more, const std::string& name = "run") const {
    std::vector<std::string> words = {"checkpoints", "prune", place_.path(name).string()};
    words.insert(words.end(), more.begin(), more.end());
    return memduel(place_, words);
  }
  [[nodiscard]] bool is_there(const std::string& name) const {
    return fs::exists(place_.path("run") / name);
  }

  Workplace place_;
};

TEST_F(Checkpoints, ADryRunSaysWhatThePruningThenDoes) {
  const std::vector<std::string> rules = {"--metric",          "kappa", "--keep-best", "1",
                                          "--older-than-days", "7"};
  std::vector<std::string> dry = rules;
  dry.emplace_back("--dry-run");
  const Finished planned = run(dry);
  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_THAT(planned.out,
              AllOf(HasSubstr("directory: " + fs::canonical(place_.path("run")).string() + "\n"),
                    HasSubstr("would remove epoch1_kappa_0.50000.pth: kappa 0.5, 30.0 days old"),
                    HasSubstr("would be freed: 1 checkpoint, 7 B")));
  EXPECT_TRUE(is_there("epoch1_kappa_0.50000.pth"));

  const Finished pruned = run(rules);
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  EXPECT_THAT(pruned.out, AllOf(HasSubstr("\nremoved epoch1_kappa_0.50000.pth"),
                                HasSubstr("freed: 1 checkpoint, 7 B\nkept: 2 checkpoints, 14 B")));
  EXPECT_FALSE(is_there("epoch1_kappa_0.50000.pth"));
  EXPECT_TRUE(is_there("epoch2_kappa_0.90000.pth"));
  EXPECT_TRUE(is_there("epoch3_kappa_0.10000.pth"));
}

TEST_F(Checkpoints, TheDefaultsKeepFiveAndAWeek) {
  for (int epoch = 4; epoch < 8; ++epoch)
    put("epoch" + std::to_string(epoch) + "_kappa_0.20000.pth", epoch == 7 ? 6 : 40);
  const Finished pruned = run({"--metric", "kappa"});
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  EXPECT_THAT(pruned.out,
              AllOf(HasSubstr("the 5 with the highest kappa"), HasSubstr("not older than 7 days"),
                    HasSubstr("removed epoch3_kappa_0.10000.pth"),
                    HasSubstr("removed epoch4_kappa_0.20000.pth"), HasSubstr("freed: 2 ")));
}

TEST_F(Checkpoints, WhatIsNoKnownScoreNeedsToBeToldWhatIsBest) {
  for (const char* metric : {"val_mse", "val_Loss", "fid"}) {
    const std::string name = metric;
    put("epoch4_" + name + "_0.20000.pth", 30);
    put("epoch5_" + name + "_0.10000.pth", 30);
    put("epoch6_" + name + "_0.30000.pth", 30);
    const Finished refused = run({"--metric", name, "--keep-best", "1"});
    EXPECT_EQ(refused.status, 2) << name;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(name), HasSubstr("--best lowest")));
    const Finished pruned = run({"--metric", name, "--keep-best", "1", "--best", "lowest"});
    EXPECT_EQ(pruned.status, 0) << pruned.err;
    EXPECT_FALSE(is_there("epoch4_" + name + "_0.20000.pth"));
    EXPECT_TRUE(is_there("epoch5_" + name + "_0.10000.pth"));
  }
}

TEST_F(Checkpoints, RefusalsNameWhatIsWrongAndDeleteNothing) {
  const Finished metric = run({"--metric", "kapa", "--keep-best", "1"});
  EXPECT_EQ(metric.status, 2);
  EXPECT_THAT(metric.err, AllOf(HasSubstr("\"kapa\""), HasSubstr("did you mean kappa?")));
  const Finished missing = run({"--metric", "kappa"}, "absent");
  EXPECT_EQ(missing.status, 4);
  EXPECT_THAT(missing.err, HasSubstr("absent: cannot open the directory"));
  fs::create_directory_symlink(place_.path("run"), place_.path("link"));
  const Finished link = run({"--metric", "kappa", "--keep-best", "1"}, "link");
  EXPECT_EQ(link.status, 4);
  EXPECT_THAT(link.err, HasSubstr("expected a directory, found a symbolic link"));
  EXPECT_EQ(run({"--metric", "kappa", "--keep-best", "0"}).status, 2);
  EXPECT_EQ(run({"--metric", "kappa", "--older-than-days", "-1"}).status, 2);
  for (const char* days : {"nan", "-NaN", "inf", "x"}) {
    const Finished refused =
        run({"--metric", "kappa", "--keep-best", "1", "--older-than-days", days});
    EXPECT_EQ(refused.status, 2) << days;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("--older-than-days"), HasSubstr(days)));
  }
  for (const char* verb : {"prune", "summary"}) {
    const Finished empty = memduel(place_, {"checkpoints", verb, "", "--metric", "kappa"});
    EXPECT_EQ(empty.status, 2);
    EXPECT_THAT(empty.err, HasSubstr("DIR: expected a directory, found an empty name"));
  }
  EXPECT_EQ(run({}).status, 2);
  EXPECT_TRUE(is_there("epoch1_kappa_0.50000.pth"));
}

TEST_F(Checkpoints, NoneThatIsKnownIsAnErrorThatShowsNoEscapeSequence) {
  fs::create_directory(place_.path("other"));
  fs::rename(place_.file("foo.pth", "weights"), place_.path("other/\x1B[31mfoo.pth"));
  const Finished refused = run({"--metric", "kappa"}, "other");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("/other/ [31mfoo.pth: neither a checkpoint name nor a sidecar"));
}

TEST_F(Checkpoints, AreSummedUp) {
  const Finished summary = memduel(place_, {"checkpoints", "summary", place_.path("run").string()});
  EXPECT_EQ(summary.status, 0) << summary.err;
  EXPECT_THAT(summary.out, AllOf(HasSubstr("3 checkpoints, 21 B in 1 directory"),
                                 HasSubstr("oldest: epoch1_kappa_0.50000.pth, 30.0 days old"),
                                 HasSubstr("newest: epoch3_kappa_0.10000.pth, 10.0 days old")));
}

TEST_F(Checkpoints, HelpShowsAnExampleAndBothVerbs) {
  const Finished help = memduel(place_, {"checkpoints", "--help"});
  EXPECT_THAT(help.out, AllOf(HasSubstr("prune"), HasSubstr("summary"), HasSubstr("Examples:")));
  const Finished prune = memduel(place_, {"checkpoints", "prune", "--help"});
  EXPECT_THAT(prune.out,
              AllOf(HasSubstr("--keep-best"), HasSubstr("--dry-run"), HasSubstr("Examples:")));
  EXPECT_EQ(memduel(place_, {"checkpoints"}).status, 2);
}

}  // namespace
}  // namespace memduel
