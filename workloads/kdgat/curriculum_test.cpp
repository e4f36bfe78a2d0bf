#include "curriculum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "test_sample_graphs.h"

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

using testing::IsSupersetOf;
using testing::UnorderedElementsAreArray;

std::size_t size_of(const GraphStore& store, std::size_t index) {
  const GraphView graph = store.graph(index);
  return graph.nodes() + graph.edges();
}

std::size_t size_of(const GraphStore& store, const Indices& graphs) {
  std::size_t sum = 0;
  for (const std::size_t index : graphs) sum += size_of(store, index);
  return sum;
}

/// Of the store, the largest first.
Indices by_size(const GraphStore& store, Indices graphs) {
  std::ranges::sort(
      graphs, [&](std::size_t a, std::size_t b) { return size_of(store, a) > size_of(store, b); });
  return graphs;
}

class HeavyBatchesTest : public testing::Test {
 protected:
  const SampleGraphs file_{40};
  const std::unique_ptr<GraphStore> store_ = file_.open();
};

// Of 66 pairs of 12 graphs one draw hits the heaviest; 2,000 miss it once in 10^13 times.
TEST_F(HeavyBatchesTest, TheHeaviestPairIsOfTheTwoLargestGraphs) {
  const Indices graphs = {3, 5, 8, 13, 17, 20, 21, 25, 29, 31, 34, 39};
  HeavyBatches batches(*store_, graphs, 1);
  const Indices largest = by_size(*store_, graphs);
  const Indices pair = batches.heaviest(2, 2000);
  EXPECT_THAT(graphs, IsSupersetOf(pair));
  EXPECT_NE(pair[0], pair[1]);
  EXPECT_EQ(size_of(*store_, pair), size_of(*store_, {largest[0], largest[1]}));
}

TEST_F(HeavyBatchesTest, ManyDrawsAreHeavierThanOne) {
  HeavyBatches one(*store_, first_graphs(40), 1);
  HeavyBatches many(*store_, first_graphs(40), 1);
  EXPECT_GT(size_of(*store_, many.heaviest(8, kTriedDraws)), size_of(*store_, one.heaviest(8, 1)));
}

TEST_F(HeavyBatchesTest, ABatchOfMoreThanAllHasEachAsOftenAndDrawsTheRest) {
  const Indices graphs = {4, 7, 9};
  HeavyBatches batches(*store_, graphs, 1);
  const Indices whole = batches.heaviest(6, 10);
  EXPECT_THAT(whole, UnorderedElementsAreArray({4, 4, 7, 7, 9, 9}));
  const Indices more = batches.heaviest(7, 100);
  EXPECT_EQ(more.size(), 7U);
  EXPECT_EQ(more.back(), by_size(*store_, graphs).front());
}

TEST_F(HeavyBatchesTest, TheHeavierOfTwoHasTheLargerGraphs) {
  const Indices sorted = by_size(*store_, first_graphs(40));
  const Indices large(sorted.begin(), sorted.begin() + 5);
  const Indices small(sorted.end() - 20, sorted.end());
  EXPECT_EQ(heavier(*store_, large, small), large);
  EXPECT_EQ(heavier(*store_, small, large), large);
  const MeanGraph mean = mean_graph(*store_, large);
  EXPECT_DOUBLE_EQ(5 * (mean.nodes + mean.edges), static_cast<double>(size_of(*store_, large)));
}

}  // namespace
}  // namespace memduel
