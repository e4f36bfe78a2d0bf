#include "training/budget_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/test_example_budget.h"

namespace memduel {
namespace {

using testing::HasSubstr;

TEST(BudgetText, ShowsTheBreakdown) {
  BudgetInput input = sixteen_thousand();
  input.sample_bytes = kMiB;
  input.activation_bytes = 50 * kMiB;
  EXPECT_EQ(describe_budget(input, plan_budget(input)),
            "device                  15.6 GiB\n"
            "may be used             9.84 GiB    70 % of it, less 10 % for fragmentation\n"
            "  context               500.0 MiB\n"
            "  parameters            10.0 MiB    without embeddings\n"
            "  embeddings            5.00 MiB\n"
            "  optimizer             0 B\n"
            "  gradients             15.0 MiB\n"
            "  teacher               15.0 MiB\n"
            "static                  545.0 MiB   the sum of these six\n"
            "available for data      9.31 GiB\n"
            "one sample              1.00 MiB\n"
            "its activations         50.0 MiB\n"
            "batch                   186         which takes 9.80 GiB\n"
            "batch as KD-GAT's code  8192        which takes 408.5 GiB: more than may be used\n");
}

TEST(BudgetText, EndsWithWarnings) {
  EXPECT_THAT(describe_budget({}, plan_budget({})),
              HasSubstr("\nwarning: no device: the least batch is recommended\n"));
}

TEST(BudgetText, ShowsClientsByDevice) {
  EXPECT_EQ(
      describe_parallel_clients({{"resnet18", 4 * 1073741824.0, 2, 8, 3, {"50-100", "5-10", "100"}},
                                 {"csfl-cnn", 4 * 1073741824.0, 2, 8, 8, {}}}),
      "clients at once         device      published  as coded  estimated\n"
      "resnet18                4.00 GiB    2          8         3\n"
      "csfl-cnn                4.00 GiB    2          8         8\n"
      "\nthe guide, any model    clients     a round    at once   rounds that are safe\n"
      "4.00 GiB                50-100      5-10       2         100\n");
}

}  // namespace
}  // namespace memduel
