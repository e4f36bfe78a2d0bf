#include "training/parallel_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> estimated_of(const std::string& model) {
  std::vector<std::int64_t> clients;
  for (const ParallelClients& row : parallel_clients())
    if (row.model == model) clients.push_back(row.estimated);
  return clients;
}

// 4 GB: 4096 × 0.63 - 500 = 2,080 MB. 10 clients of 200 MB, cut to 8; 6 of 300 (less 4.7 for two
// models of 2.4); 3 of 500 (less 85 for two of 43). 8 GB: 4,661 MB and more hold 8 of each.
TEST(ParallelClients, AreAsManyAsTheBudgetHolds) {
  EXPECT_THAT(estimated_of("cnn-mnist"), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(estimated_of("light-cnn"), ElementsAre(6, 8, 8, 8));
  EXPECT_THAT(estimated_of("resnet18"), ElementsAre(3, 8, 8, 8));
}

// The published table grows by two with every 4 GB; the code looks at the parameters alone, and of
// ResNet18's 171 MB (four times 43) even 60 % of 4 GB hold 14.
TEST(ParallelClients, StandBesideThePublishedAndTheCodes) {
  const std::vector<ParallelClients> rows = parallel_clients();
  ASSERT_EQ(rows.size(), 12U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].published, 2 * (static_cast<int>(i % 4) + 1));
    EXPECT_EQ(rows[i].as_coded, 8);
    EXPECT_DOUBLE_EQ(rows[i].device_bytes, 4.0 * 1073741824 * static_cast<double>(i % 4 + 1));
  }
}

}  // namespace
}  // namespace memduel
