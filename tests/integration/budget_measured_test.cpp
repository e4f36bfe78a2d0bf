// memduel budget where memduel-worker trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>

#include "budget_program.h"
#include "util/bytes.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

/// What `budget --measured --verify` prints, in bytes. It rounds sizes to three digits or to 0.1.
/// How much scratch memory a step takes differs between processors and BLAS kernels.
struct Printed {
  double sample = 0;    ///< measured, with its activations
  double estimate = 0;  ///< of the peak
  double truth = 0;     ///< the peak
};

Printed printed_in(const std::string& output) {
  const std::regex rows(
      "\\none sample +[0-9.]+ KiB +([0-9.]+) KiB[^]*"
      "\\nestimated, true peak +([0-9.]+) MiB +([0-9.]+) MiB");
  std::smatch found;
  if (!std::regex_search(output, found, rows)) {
    ADD_FAILURE() << "no rows of a sample and of peaks in:\n" << output;
    return {};
  }
  return {std::stod(found[1]) * kKiB, std::stod(found[2]) * kMiB, std::stod(found[3]) * kMiB};
}

// 63% of 60 MiB. 21,840 parameters of 4 bytes, two states of each for Adam.
TEST(MeasuredBudget, TriesTheBatchThatItRecommends) {
  const Finished run = budget({"--measured", "--model", "csfl-cnn", "--dataset", "mnist",
                               "--device-memory", "60MiB", "--verify"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("device (cpu)            -           60.0 MiB\n"),
                             HasSubstr("usable                  -           37.8 MiB"),
                             HasSubstr("  parameters            85.3 KiB    "),
                             HasSubstr("  optimizer             170.6 KiB   "),
                             HasSubstr("one sample              3.07 KiB    ")));
  // The budget reserves 4% of the usable memory, so one more sample would exceed 96% of it. The
  // documented target for the peak is at most 15% below the usable memory.
  const Printed printed = printed_in(run.out);
  const double usable = 0.63 * 60 * kMiB;
  const double rounding = 0.05 * kMiB;
  EXPECT_THAT(printed.estimate, AllOf(Ge(0.96 * usable - 1.01 * printed.sample - rounding),
                                      Le(0.96 * usable + rounding)));
  EXPECT_THAT(printed.truth, AllOf(Ge(0.85 * usable), Le(usable)));
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("% of the budget of 37.8 MiB\n"), Not(HasSubstr("warning"))));
}

TEST(MeasuredBudget, FailsWhereEvenTheLeastBatchIsMoreThanMayBeUsed) {
  const Finished run = budget({"--measured", "--model", "csfl-cnn", "--dataset", "mnist",
                               "--device-memory", "60MiB", "--least-batch", "2000", "--verify"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("more than the usable memory\n"),
                             HasSubstr("warning: the smallest batch, 2000, does not fit\n")));
}

TEST(MeasuredBudget, TakesItsTrainingFromAConfig) {
  const Finished run = budget({MEMDUEL_CONFIGS "/csfl-stability-quick.json", "--device-memory",
                               "60MiB", "--most-batch", "40", "--variant", "optimized"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("batch                   40\n"),
                             HasSubstr("  optimizer             0 B")))
      << "a simulation trains with SGD";
}

/// A folder for temporary files for as long as a test runs.
class TemporaryFolder {
 public:
  TemporaryFolder() { ::setenv("TMPDIR", place_.path("").c_str(), 1); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { ::unsetenv("TMPDIR"); }

  [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(place_.path("")); }

 private:
  Workplace place_;
};

// gat-large with 35 identifiers in place of 500: 465 embeddings of its 1,646,914 parameters go.
TEST(MeasuredBudget, MakesTheGraphsOfAConfigAndLeavesNothing) {
  const TemporaryFolder folder;
  const Finished run =
      budget({MEMDUEL_CONFIGS "/kdgat-quick.json", "--device-memory", "100MiB", "--verify"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(HasSubstr("  other weights         6.25 MiB    6.25 MiB    teacher, or copy of the"),
            HasSubstr("% of the budget of 63.0 MiB\n")));
  EXPECT_TRUE(folder.is_empty());
}

TEST(MeasuredBudget, TrainsAGraphModelAsWhatItCanBe) {
  // KD-GAT's safety factor of vgae-small is 0.6: 75%, less a tenth.
  const Finished run = budget({"--measured", "--model", "vgae-small", "--dataset", "can-generated",
                               "--device-memory", "40MiB", "--verify"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("75% of it"), HasSubstr("% of the budget of 27.0 MiB\n"),
                             Not(HasSubstr("other weights"))));
}

TEST(MeasuredBudget, MakesTheEpochsOfAStudyAndLeavesNothing) {
  const TemporaryFolder folder;
  const Finished run =
      budget({MEMDUEL_CONFIGS "/cbramod-quick.json", "--device-memory", "100MiB", "--verify"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("  data                  -           4.88 MiB\n"),
                             HasSubstr("% of the budget of 63.0 MiB\n")))
      << "80 epochs of 8 channels and 10 s at 200 Hz, 4 bytes each";
  EXPECT_TRUE(folder.is_empty());
}

TEST(MeasuredBudget, RefusesWhatCannotBeTrained) {
  const Finished unknown = budget({"--measured", "--model", "csfl-cn", "--dataset", "mnist"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"csfl-cnn\"?"));
  const Finished other = budget({"--measured", "--model", "csfl-cnn", "--dataset", "minst"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("mnist"));
  EXPECT_THAT(budget({"--measured", "--model", "csfl-cnn"}).err, HasSubstr("--dataset mnist"));
  const std::string config = MEMDUEL_CONFIGS "/csfl-stability-quick.json";
  EXPECT_THAT(budget({config, "--model", "csfl-cnn"}).err, HasSubstr("found both"));
  const Finished arm = budget({config, "--variant", "optimised"});
  EXPECT_EQ(arm.status, 2);
  EXPECT_THAT(arm.err, HasSubstr("--variant: found no variant \"optimised\""));
  EXPECT_THAT(budget({"--measured", "--model", "gat-small", "--dataset", "mnist"}).err,
              HasSubstr("expected can-generated or can-log"));
  EXPECT_THAT(
      budget({"--measured", "--model", "csfl-cnn", "--dataset", "mnist", "--teacher", "gat-large"})
          .err,
      HasSubstr("--teacher: csfl-cnn has no teacher"));
  EXPECT_THAT(budget({"--measured", "--model", "cbramod-small", "--dataset", "synthetic-eeg",
                      "--optimizer", "sgd"})
                  .err,
              HasSubstr("--optimizer: expected adam for cbramod-small, found sgd"));
  EXPECT_THAT(budget({config, "--network", "teacher"}).err,
              HasSubstr("kind \"simulation\" trains only one"));
  const Finished state = budget({MEMDUEL_CONFIGS "/resnet-state-quick.json"});
  EXPECT_EQ(state.status, 2);
  EXPECT_THAT(state.err, HasSubstr("kind \"state-dict\" trains no model"));
}

}  // namespace
}  // namespace memduel
