// memduel budget where nothing is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "budget_program.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// gat-small has 90,018 parameters of 4 bytes, 4,000 of them embeddings; gat-large 1,646,914. Its
// safety factor of 0.55 makes 70% of 16 GiB, less 10%: 10.08 GiB.
TEST(Budget, ShowsTheBreakdownForAGpu) {
  const Finished run = budget({"--model", "gat-small", "--teacher", "gat-large", "--device-memory",
                               "16GiB", "--most-batch", "4096"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("device                  16.0 GiB\n"),
                             HasSubstr("usable                  10.1 GiB    70% of it, less 10%"),
                             HasSubstr("  context               500.0 MiB\n"),
                             HasSubstr("  parameters            336.0 KiB   without embeddings\n"),
                             HasSubstr("  embeddings            15.6 KiB\n"),
                             HasSubstr("  optimizer             703.3 KiB\n"),
                             HasSubstr("  teacher               6.28 MiB\n"),
                             HasSubstr("batch                   4096"), Not(HasSubstr("warning"))));
}

TEST(Budget, WithoutADeviceTakesTheCpusFreeMemory) {
  const Finished run = budget({"--model", "vgae-large"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("  context               0 B\n"),
                             Not(HasSubstr("device                  0 B"))));
}

TEST(Budget, ComparesCsflsSettings) {
  const Finished run = budget({"--parallel-clients"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("resnet18                4.00 GiB    2          8               3\n"));
}

TEST(Budget, RefusesWhatMakesNoSense) {
  const Finished unknown = budget({"--model", "gat-smal"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean gat-small?"));
  EXPECT_THAT(budget({}).err, HasSubstr("found no model"));
  EXPECT_EQ(budget({"--model", "gat-small", "--device-memory", "much"}).status, 2);
  EXPECT_EQ(budget({"--model", "gat-small", "--target-utilization", "1.5"}).status, 2);
  EXPECT_EQ(budget({"--model", "gat-small", "--least-batch", "9", "--most-batch", "8"}).status, 2);
}

TEST(Budget, TakesOnlyNumbersThatAreFiniteAndOptionsThatItReads) {
  const std::vector<std::string> model = {"--model", "gat-small"};
  const auto refused = [&](std::vector<std::string> arguments, const std::string& why) {
    arguments.insert(arguments.begin(), model.begin(), model.end());
    const Finished run = budget(arguments);
    EXPECT_EQ(run.status, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, AllOf(HasSubstr(arguments[2]), HasSubstr(why)));
  };
  refused({"--device-memory", "-5"}, "-5 is negative");
  refused({"--device-memory", "0"}, "");
  refused({"--nodes", "nan"}, R"(found "nan")");
  refused({"--nodes", "0.5"}, R"(expected a number from 1 to 1e+09, found "0.5")");
  refused({"--nodes", "2e9"}, R"(expected a number from 1 to 1e+09, found "2e9")");
  refused({"--edges", "-1"}, R"(expected a number from 0 to 1e+09, found "-1")");
  refused({"--edges", "inf"}, R"(expected a number from 0 to 1e+09, found "inf")");
  refused({"--device-memory", "2000PB"}, "expected a number from 1 to 1e+18, found ");
  refused({"--target-utilization", "0"}, R"(expected a number from 0.01 to 1, found "0")");
  refused({"--edges", "-nan"}, R"(found "-nan")");
  refused({"--target-utilization", "NaN"}, R"(found "NaN")");
  refused({"--verify"}, "add --measured");
  refused({"--dataset", "mnist"}, "add --measured");
  refused({"--nodes", "3", "--measured"}, "needs a budget from shapes");
  EXPECT_THAT(budget({"--parallel-clients", "--model", "gat-small"}).err,
              HasSubstr("--model: this option cannot be combined with --parallel-clients"));
}

// memduel-fl looks for the worker beside itself.
TEST(Budget, MeasuredNeedsTheWorker) {
  const Workplace place;
  const std::string alone = place.path("memduel-fl").string();
  std::filesystem::copy_file(MEMDUEL_FL, alone);
  const Finished run =
      Running(place, alone, {"budget", "--measured", "--model", "csfl-cnn", "--dataset", "mnist"})
          .wait();
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("this build has no memduel-worker"));
}

}  // namespace
}  // namespace memduel
