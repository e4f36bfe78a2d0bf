#include "workloads/graph_training/curriculum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace memduel {
namespace {

using ::testing::UnorderedElementsAre;

/// A hundred normal graphs 1000, 1001, … of difficulty 0, 1, …, and five attacks.
Curriculum hundred_normals() {
  Indices normals(100);
  std::iota(normals.begin(), normals.end(), 1000);
  std::vector<float> scores(100);
  std::iota(scores.begin(), scores.end(), 0.0F);
  return {normals, scores, {1, 2, 3, 4, 5}};
}

// The 75th percentile is 75; of the 25 from there on, as many as there are attacks.
TEST(Curriculum, BeginsWithAsManyHardNormalsAsAttacks) {
  EXPECT_THAT(hundred_normals().graphs_of(0, 10, 1),
              UnorderedElementsAre(1075, 1076, 1077, 1078, 1079, 1, 2, 3, 4, 5));
}

// In the sixth of ten epochs 5 × 5.5 = 27 might come; from the 85th percentile on there are 15.
TEST(Curriculum, GoesOnWithMoreAndHarderOnes) {
  const Indices graphs = hundred_normals().graphs_of(5, 10, 1);
  EXPECT_EQ(graphs.size(), 20U);
  EXPECT_EQ(*std::ranges::max_element(graphs), 1099U);
  EXPECT_EQ(std::ranges::count_if(graphs, [](auto graph) { return graph >= 1085; }), 15);
}

TEST(Curriculum, OrdersByItsSeed) {
  const Curriculum curriculum = hundred_normals();
  EXPECT_EQ(curriculum.graphs_of(3, 10, 1), curriculum.graphs_of(3, 10, 1));
  EXPECT_NE(curriculum.graphs_of(3, 10, 1), curriculum.graphs_of(3, 10, 2));
}

TEST(Curriculum, EquallyHardNormalsAreAllHard) {
  const Curriculum curriculum({10, 11, 12}, {2, 2, 2}, {1, 2});
  EXPECT_THAT(curriculum.graphs_of(0, 2, 1), UnorderedElementsAre(10, 11, 1, 2));
}

}  // namespace
}  // namespace memduel
