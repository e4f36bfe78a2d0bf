#include "method_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "util/error.h"

namespace memduel {
namespace {

using ::testing::ElementsAre;

TEST(Selection, EveryMethodChoosesDifferentClientsThatExist) {
  for (const std::string& method : selection_methods()) {
    const auto selection = make_selection(method, {100, 10, 3});
    for (int round = 0; round < 30; ++round) {
      const std::vector<std::size_t> chosen = selection->next();
      EXPECT_EQ(chosen.size(), 10U) << method;
      EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 10U) << method;
      for (const std::size_t client : chosen) EXPECT_LT(client, 100U) << method;
    }
  }
}

TEST(Selection, RoundRobinWrapsAround) {
  const auto selection = make_selection("round_robin", {5, 3, 1});
  EXPECT_THAT(selection->next(), ElementsAre(0, 1, 2));
  EXPECT_THAT(selection->next(), ElementsAre(3, 4, 0));
}

TEST(Selection, HighestLossTakesTheUnseenFirstThenTheWorst) {
  const auto selection = make_selection("highest_loss", {4, 2, 1});
  EXPECT_THAT(selection->next(), ElementsAre(0, 1));
  selection->observe(0, 0.5);
  selection->observe(1, 2.5);
  EXPECT_THAT(selection->next(), ElementsAre(2, 3));
  selection->observe(2, 0.1);
  selection->observe(3, 1.0);
  EXPECT_THAT(selection->next(), ElementsAre(1, 3));
}

TEST(Selection, RandomDependsOnItsSeedAlone) {
  const auto first = [](std::uint64_t seed) {
    return make_selection("random", {100, 10, seed})->next();
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(Selection, MoreThanThereAreAndUnknownMethodsAreRefused) {
  const auto refusal = [](const std::string& method, std::size_t per_round) {
    try {
      make_selection(method, {10, per_round, 1});
    } catch (const Error& error) {
      return error.message();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("random", 11),
            "workload.clients_per_round: expected 1 to 10, the number of clients, found 11");
  EXPECT_EQ(refusal("best", 1),
            "workload.methods: expected random, highest_loss, round_robin, found \"best\"");
}

}  // namespace
}  // namespace memduel
