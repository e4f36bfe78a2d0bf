#include "window_graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fl/worker_config.h"
#include "kdgat/graph_file.h"
#include "test_recorded_drive.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::Pointwise;

CanFrame frame_of(std::uint32_t id, std::uint8_t first_byte) {
  return {0, id, 1, false, {first_byte}};
}

/// A B A B A C: five rows.
std::vector<CanFrame> six_frames() {
  return {frame_of(0x10, 255), frame_of(0x20, 51),  frame_of(0x10, 0),
          frame_of(0x20, 51),  frame_of(0x10, 255), frame_of(0x30, 99)};
}

std::vector<Graph> graphs_of(std::span<const CanFrame> frames, const IdMap& ids,
                             const Windows& windows) {
  std::vector<Graph> graphs;
  for_each_graph(frames, ids, windows, [&](const Graph& graph) { graphs.push_back(graph); });
  return graphs;
}

Graph only_graph(const std::vector<CanFrame>& frames) {
  const std::vector<Graph> graphs = graphs_of(frames, IdMap::of(frames), {5, 5});
  EXPECT_EQ(graphs.size(), 1U);
  return graphs.at(0);
}

TEST(WindowGraph, HasNodesAndEdgesInAscendingOrder) {
  const Graph graph = only_graph(six_frames());
  EXPECT_EQ(graph.view().nodes(), 3U);
  EXPECT_EQ(graph.view().edges(), 3U);
  EXPECT_THAT(graph.edge_index, ElementsAre(0, 0, 1, 1, 2, 0));
}

TEST(WindowGraph, HasTheNodeFeaturesOfItsRows) {
  const std::vector<float> expected = {0, 2.0F / 3, 0, 0, 0, 0, 0, 0, 0, 1,        1,      //
                                       1, 0.2F,     0, 0, 0, 0, 0, 0, 0, 2.0F / 3, 0.75F,  //
                                       2, 0,        0, 0, 0, 0, 0, 0, 0, 0,        0};
  EXPECT_THAT(only_graph(six_frames()).node_features, Pointwise(FloatEq(), expected));
}

TEST(WindowGraph, HasTheEdgeFeaturesOfItsRows) {
  const std::vector<float> expected = {2, 0.4F, 2, 0, 1, 0,    0.4F, 0.4F, 1, 20, 1.25F,  //
                                       1, 0.2F, 0, 0, 0, 0.8F, 0.8F, 0,    0, 5,  5,      //
                                       2, 0.4F, 2, 0, 1, 0.2F, 0.6F, 0.4F, 1, 20, 0.8F};
  EXPECT_THAT(only_graph(six_frames()).edge_features, Pointwise(FloatEq(), expected));
}

TEST(WindowGraph, IsAnAttackWhenARowWasInjected) {
  std::vector<CanFrame> frames = six_frames();
  EXPECT_EQ(only_graph(frames).label, 0);
  frames[5].attack = true;  // no row: it has no next frame
  EXPECT_EQ(only_graph(frames).label, 0);
  frames[4].attack = true;
  EXPECT_EQ(only_graph(frames).label, 1);
}

// (n - 1 - W) / stride + 1, at least one.
TEST(WindowGraph, ThereIsOneForEveryWholeWindow) {
  const std::vector<CanFrame> frames(26, frame_of(1, 0));
  const IdMap ids = IdMap::of(frames);
  EXPECT_EQ(graphs_of(frames, ids, {5, 5}).size(), 5U);
  EXPECT_EQ(graphs_of(frames, ids, {5, 1}).size(), 21U);
  EXPECT_EQ(graphs_of(frames, ids, {24, 5}).size(), 1U);
  EXPECT_EQ(graphs_of(frames, ids, {100, 100}).size(), 1U);
  EXPECT_EQ(graphs_of(std::span(frames).first(2), ids, {100, 100}).size(), 1U);
  EXPECT_TRUE(graphs_of(std::span(frames).first(1), ids, {100, 100}).empty());
  EXPECT_TRUE(graphs_of({}, ids, {100, 100}).empty());
}

TEST(WindowGraph, OfOneIdentifierHasOneNodeAndKeepsItsCount) {
  const std::vector<CanFrame> frames(6, frame_of(1, 255));
  const Graph graph = only_graph(frames);
  EXPECT_THAT(graph.node_features, ElementsAre(0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 1));
  EXPECT_THAT(graph.edge_index, ElementsAre(0, 0));
}

TEST(IdMap, CountsInAscendingOrderAndSharesTheLastIndex) {
  const IdMap ids({0x30, 0x10, 0x30});
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_EQ(ids.index(0x10), 0);
  EXPECT_EQ(ids.index(0x30), 1);
  EXPECT_EQ(ids.index(0x20), 2);
  EXPECT_EQ(ids.index(0x7ff), 2);
}

// The sums were computed with NumPy 1.24 from the same definitions.
TEST_F(RecordedDrive, MakesTheGraphsThatNumPyMakes) {
  const auto graphs = graphs_of(drive(), IdMap::of(drive()), {});
  ASSERT_EQ(graphs.size(), 746U);
  EXPECT_EQ(graphs[0].view().nodes(), 31U);
  EXPECT_EQ(graphs[0].view().edges(), 42U);
  std::size_t nodes = 0;
  std::size_t edges = 0;
  std::vector<double> node_sums(kNodeFeatures);
  std::vector<double> edge_sums(kEdgeFeatures);
  for (const Graph& graph : graphs) {
    nodes += graph.view().nodes();
    edges += graph.view().edges();
    for (std::size_t i = 0; i < graph.node_features.size(); ++i)
      node_sums[i % kNodeFeatures] += graph.node_features[i];
    for (std::size_t i = 0; i < graph.edge_features.size(); ++i)
      edge_sums[i % kEdgeFeatures] += graph.edge_features[i];
  }
  EXPECT_EQ(nodes, 21424U);
  EXPECT_EQ(edges, 31431U);
  EXPECT_THAT(node_sums, Pointwise(testing::DoubleNear(1e-3),
                                   {316545.0, 3033.7861, 6813.2327, 6620.8523, 7123.8791, 5128.666,
                                    5187.0255, 5382.7226, 5408.605, 8011.5656, 16645.7071}));
  EXPECT_THAT(edge_sums, Pointwise(testing::DoubleNear(1e-3),
                                   {74600.0, 746.0, 484140.2439, 26064.6195, 10823.6006, 9882.88,
                                    21166.38, 11283.5, 1844.0, 2021034.0, 48518.2856}));
}

TEST(GeneratedGraphs, AreAsManyAsWantedWithAndWithoutAttacks) {
  const ScratchDirectory scratch(testing::TempDir(), "generated");
  write_generated_graphs(scratch.path() / "a", 2500, 1);
  const auto store = open_graphs(scratch.path() / "a", GraphLoading::mmap);
  ASSERT_EQ(store->size(), 2500U);
  EXPECT_EQ(store->identifiers(), 35U);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(store->graph(i).label, 0) << i;
  std::size_t attacks = 0;
  for (std::size_t i = 1000; i < 2500; ++i) attacks += store->graph(i).label;
  EXPECT_GT(attacks, 500U);
  EXPECT_LT(attacks, 1500U);
}

TEST(GeneratedGraphs, TheFewestThatAConfigMayAskForHaveAttacks) {
  const ScratchDirectory scratch(testing::TempDir(), "generated");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    write_generated_graphs(scratch.path() / "few", kFewestGraphs, seed);
    const auto store = open_graphs(scratch.path() / "few", GraphLoading::mmap);
    std::int64_t attacks = 0;
    for (std::size_t i = 0; i < store->size(); ++i) attacks += store->graph(i).label;
    EXPECT_GT(attacks, 30) << seed;
  }
}

TEST(GeneratedGraphs, TheSeedDecides) {
  const ScratchDirectory scratch(testing::TempDir(), "generated");
  for (const std::uint64_t seed : {1, 2})
    write_generated_graphs(scratch.path() / std::to_string(seed), 50, seed);
  write_generated_graphs(scratch.path() / "again", 50, 1);
  EXPECT_EQ(read_file(scratch.path() / "1"), read_file(scratch.path() / "again"));
  EXPECT_NE(read_file(scratch.path() / "1"), read_file(scratch.path() / "2"));
}

}  // namespace
}  // namespace memduel
