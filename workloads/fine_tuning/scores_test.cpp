#include "workloads/fine_tuning/scores.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

Scores of_counts(const std::vector<std::vector<int>>& counts) {
  Confusion confusion(counts.size());
  for (std::size_t label = 0; label < counts.size(); ++label)
    for (std::size_t answer = 0; answer < counts.size(); ++answer)
      for (int i = 0; i < counts[label][answer]; ++i) confusion.add(label, answer);
  return confusion.scores();
}

// Agreement 35 of 50, by chance 0.5: (0.7 - 0.5) / 0.5. F1 40 / 55 and 30 / 45, half each.
TEST(Scores, AreThoseOfTheTextbook) {
  const Scores scores = of_counts({{20, 5}, {10, 15}});
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(scores.kappa, 0.4);
  EXPECT_DOUBLE_EQ(scores.f1, (40.0 / 55 + 30.0 / 45) / 2);
}

TEST(Scores, OneAnswerToEverythingHasNoKappa) {
  const Scores scores = of_counts({{10, 0, 0}, {10, 0, 0}, {10, 0, 0}});
  EXPECT_DOUBLE_EQ(scores.accuracy, 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.kappa, 0);
  EXPECT_DOUBLE_EQ(scores.f1, 1.0 / 3 * 0.5);
}

TEST(Scores, AllRightIsOneAndNothingIsZero) {
  EXPECT_DOUBLE_EQ(of_counts({{4, 0}, {0, 6}}).kappa, 1);
  EXPECT_DOUBLE_EQ(of_counts({{4, 0}, {0, 6}}).f1, 1);
  EXPECT_DOUBLE_EQ(of_counts({{0, 0}, {0, 0}}).kappa, 0);
  EXPECT_DOUBLE_EQ(of_counts({{5, 0}, {0, 0}}).kappa, 0);
}

}  // namespace
}  // namespace memduel
