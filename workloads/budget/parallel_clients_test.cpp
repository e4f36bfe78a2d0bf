#include "budget/parallel_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMebibyte = 1 << 20;

std::vector<std::int64_t> estimated_of(const std::string& model) {
  std::vector<std::int64_t> clients;
  for (const ParallelClients& row : parallel_clients())
    if (row.model == model) clients.push_back(row.estimated);
  return clients;
}

// 4 GB: 4096 × 0.63 - 500 = 2,080 MB. 10 clients of 200 MB, cut to 8; 6 of 300 (less 4.7 for two
// models of 2.4); 3 of 500 (less 85 for two of 43). 8 GB: 4,661 MB and more hold 8 of each.
TEST(ParallelClients, AreAsManyAsTheBudgetHolds) {
  EXPECT_THAT(estimated_of("csfl-cnn"), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(estimated_of("csfl-light-cnn"), ElementsAre(6, 8, 8, 8));
  EXPECT_THAT(estimated_of("resnet18"), ElementsAre(3, 8, 8, 8));
}

// The published table grows by two with every 4 GB; the code looks at the parameters alone, and of
// ResNet18's 171 MB (four times 43) even 60% of 4 GB hold 14.
TEST(ParallelClients, StandBesideThePublishedAndTheCodes) {
  const std::vector<ParallelClients> rows = parallel_clients();
  ASSERT_EQ(rows.size(), 12U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].published, 2 * (static_cast<int>(i % 4) + 1));
    EXPECT_EQ(rows[i].as_implemented, 8);
    EXPECT_DOUBLE_EQ(rows[i].device_bytes, 4.0 * 1073741824 * static_cast<double>(i % 4 + 1));
  }
}

TEST(ClientsAtOnce, AutoIsSixtyPercentOfMemoryOverFourStatesAndAtMostEight) {
  // 600 MiB usable, 4 × 25 MiB each.
  EXPECT_EQ(clients_at_once(-1, {.state = 25 * kMebibyte}, 1000 * kMebibyte, 8), 6);
  EXPECT_EQ(clients_at_once(-1, {.state = kMebibyte}, 1000 * kMebibyte, 8), 8);
  EXPECT_EQ(clients_at_once(-1, {.state = kMebibyte}, 1000 * kMebibyte, 2), 2);
  EXPECT_EQ(clients_at_once(-1, {.state = 500 * kMebibyte}, 1000 * kMebibyte, 8), 1);
  EXPECT_EQ(clients_at_once(-1, {.state = kMebibyte}, 0, 8), 1);
}

TEST(ClientsAtOnce, ANumberIsTakenWhereItFits) {
  EXPECT_EQ(clients_at_once(0, {.state = kMebibyte}, 0, 8), 1);
  EXPECT_EQ(clients_at_once(1, {.state = 500 * kMebibyte}, 1000 * kMebibyte, 8), 1);
  EXPECT_EQ(clients_at_once(6, {.state = 25 * kMebibyte}, 1000 * kMebibyte, 8), 6);
}

TEST(ClientsAtOnce, MoreThanMemoryHoldsIsRefusedWithTheArithmetic) {
  try {
    clients_at_once(7, {.state = 25 * kMebibyte}, 1000 * kMebibyte, 8);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.message(),
              "workload.parallel_clients: expected at most 6, found 7: 7 × 100.0 MiB = 700.0 MiB, "
              "but 60% of the 1000.0 MiB available is 600.0 MiB\n"
              "  a client takes 100.0 MiB by the code's formula (4 states × 25.0 MiB); with -1, as "
              "many run as fit by the formula");
  }
}

// 600 MiB usable hold six by the code's 100 MiB, and one of the 550 MiB that it took.
TEST(ClientsAtOnce, WhatWasMeasuredCountsWhereItIsMoreThanTheFormula) {
  const ClientBytes client = {
      .state = 25 * kMebibyte, .measured = 550 * kMebibyte, .published = 200 * kMebibyte};
  try {
    clients_at_once(2, client, 1000 * kMebibyte, 8);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "workload.parallel_clients: expected at most 1, found 2: 2 × 550.0 MiB = 1.07 GiB, "
              "but 60% of the 1000.0 MiB available is 600.0 MiB\n"
              "  a client takes 100.0 MiB by the code's formula (4 states × 25.0 MiB), 550.0 MiB "
              "measured, "
              "200.0 MiB according to the guide; with -1, as many run as fit by the formula");
  }
  EXPECT_EQ(clients_at_once(-1, client, 1000 * kMebibyte, 8), 6);
  EXPECT_EQ(clients_at_once(6, {.state = 25 * kMebibyte, .measured = 50 * kMebibyte},
                            1000 * kMebibyte, 8),
            6);
}

// The guide's table.
TEST(ClientBytes, AreTheGuidesAndTheCodes) {
  EXPECT_EQ(published_client_bytes("csfl-cnn"), 200 * kMebibyte);
  EXPECT_EQ(published_client_bytes("csfl-light-cnn"), 300 * kMebibyte);
  EXPECT_EQ(published_client_bytes("resnet18"), 500 * kMebibyte);
  EXPECT_FALSE(published_client_bytes("mnist-cnn"));
  EXPECT_EQ(formula_client_bytes(10), 40);
}

}  // namespace
}  // namespace memduel
