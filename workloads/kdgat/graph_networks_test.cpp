#include "graph_networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "test_sample_graphs.h"

namespace memduel {
namespace {

std::int64_t trained_numbers(const torch::nn::Module& network) {
  std::int64_t count = 0;
  for (const torch::Tensor& one : network.parameters()) count += one.numel();
  return count;
}

std::int64_t built_parameters(const GraphModel& model, int identifiers) {
  if (const auto* gat = std::get_if<GatShape>(&model.shape))
    return trained_numbers(*Gat(*gat, identifiers));
  return trained_numbers(*Vgae(std::get<VgaeShape>(model.shape), identifiers));
}

// graph_models_test.cpp holds parameter_count() to what PyTorch counted.
TEST(GraphNetworks, HaveThePublishedNumbersOfParameters) {
  for (const GraphModel& model : graph_models())
    for (const int identifiers : {kPublishedIdentifiers, 35})
      EXPECT_EQ(built_parameters(model, identifiers), parameter_count(model, identifiers))
          << model.name;
}

/// A graph of four nodes with one feature each, which networks cannot read but one layer can.
Links links_of_four(const std::vector<std::int64_t>& sources,
                    const std::vector<std::int64_t>& targets) {
  GraphBatch batch;
  batch.node_features = torch::zeros({4, 1});
  batch.edge_index = torch::stack({torch::tensor(sources), torch::tensor(targets)});
  return links_of(batch);
}

// Values 0, ln 2, ln 3 and -5 ln 2, each its own projection in both heads. The first head looks at
// the source alone: weights are exp(value), of the negative one exp(-ln 2) = 1/2 for its slope of
// 0.2. The second looks at the target alone: all sources weigh the same.
TEST(GraphAttention, IsTheSoftmaxOverSourcesThatAPencilGives) {
  const double ln2 = std::log(2);
  const double ln3 = std::log(3);
  GraphAttention layer(1, 1, 2);
  {
    const torch::NoGradGuard no_grad;
    for (auto& entry : layer->named_parameters()) {
      if (entry.key() == "project.weight") entry.value().fill_(1);
      if (entry.key() == "of_source") entry.value().copy_(torch::tensor({{1.0}, {0.0}}));
      if (entry.key() == "of_target") entry.value().copy_(torch::tensor({{0.0}, {1.0}}));
      if (entry.key() == "bias") entry.value().copy_(torch::tensor({10.0, 20.0}));
    }
  }
  // The loop at 2 is there already, and counts once.
  const Links links = links_of_four({0, 1, 3, 2}, {2, 2, 0, 2});
  const torch::Tensor made =
      layer->forward(torch::tensor({{0.0}, {ln2}, {ln3}, {-5 * ln2}}, torch::kFloat), links);
  const torch::Tensor expected = torch::tensor({{-5 * ln2 / 3, -5 * ln2 / 2},
                                                {ln2, ln2},
                                                {(2 * ln2 + 3 * ln3) / 6, (ln2 + ln3) / 3},
                                                {-5 * ln2, -5 * ln2}},
                                               torch::kFloat) +
                                 torch::tensor({10.0, 20.0}, torch::kFloat);
  EXPECT_TRUE(torch::allclose(made, expected, 1e-6, 1e-6)) << made << expected;
}

class GraphNetworksOnTraffic : public ::testing::Test {
 protected:
  GraphNetworksOnTraffic() { torch::manual_seed(5); }

  const SampleGraphs file_{1200};
  const std::unique_ptr<GraphStore> store_ = file_.open();
  const std::int64_t identifiers_ = static_cast<std::int64_t>(store_->identifiers());
};

TEST_F(GraphNetworksOnTraffic, ABatchIsItsGraphsOneByOne) {
  Gat gat(GatShape{24, 2, 4, 8, 3}, identifiers_);
  gat->eval();
  Vgae vgae(VgaeShape{{80, 40}, 16, 1, 4, 4}, identifiers_);
  vgae->eval();
  const std::vector<std::size_t> indices = {3, 1100, 0, 1050};
  const GraphBatch all = make_batch(*store_, indices);
  const torch::NoGradGuard no_grad;
  const torch::Tensor scores = gat->forward(all);
  const torch::Tensor errors = reconstruction_errors(vgae->forward(all), all);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const GraphBatch alone = make_batch(*store_, {&indices[i], 1});
    const auto place = static_cast<std::int64_t>(i);
    EXPECT_TRUE(torch::allclose(gat->forward(alone)[0], scores[place], 1e-4, 1e-6));
    EXPECT_TRUE(torch::allclose(reconstruction_errors(vgae->forward(alone), alone)[0],
                                errors[place], 1e-4, 1e-6));
    EXPECT_EQ(all.labels[place].item<std::int64_t>(), store_->graph(indices[i]).label);
  }
  EXPECT_FALSE(torch::allclose(scores[0], scores[1], 1e-4, 1e-6));
}

TEST_F(GraphNetworksOnTraffic, ABatchCarriesItsGraphsFromEitherWayOfLoading) {
  const auto mapped = file_.open(GraphLoading::mmap);
  const std::vector<std::size_t> indices = {7, 1101};
  const GraphBatch read = make_batch(*store_, indices);
  const GraphBatch viewed = make_batch(*mapped, indices);
  EXPECT_TRUE(torch::equal(read.node_features, viewed.node_features));
  EXPECT_TRUE(torch::equal(read.edge_index, viewed.edge_index));
  EXPECT_TRUE(torch::equal(read.edge_features, viewed.edge_features));
  const GraphView second = store_->graph(1101);
  const auto first_node = static_cast<std::int64_t>(store_->graph(7).nodes());
  const auto first_edge = static_cast<std::int64_t>(store_->graph(7).edges());
  EXPECT_EQ(read.edge_index[1][first_edge].item<std::int64_t>(),
            first_node + second.edge_index[second.edges()]);
  EXPECT_EQ(read.graph_of_node[first_node].item<std::int64_t>(), 1);
  // Of each node 11 features and a graph, of each edge 11 features and two ends, of each graph a
  // label.
  EXPECT_EQ(read.bytes(), read.nodes() * 52 + read.edge_index.size(1) * 60 + 2 * 8);
}

/// A loss and the gradient of the scores.
std::pair<double, torch::Tensor> neighbourhood(const GraphBatch& batch, std::int64_t identifiers,
                                               NeighbourhoodTarget target) {
  torch::manual_seed(9);
  torch::Tensor scores = (8 * torch::randn({batch.nodes(), identifiers})).requires_grad_();
  const torch::Tensor loss = neighbourhood_loss(scores, batch, target);
  loss.backward();
  return {loss.item<double>(), scores.grad()};
}

TEST_F(GraphNetworksOnTraffic, ASparseNeighbourhoodHasTheLossAndGradientOfADenseOne) {
  const GraphBatch batch = make_batch(*store_, first_graphs(20));
  const auto [dense, dense_gradient] =
      neighbourhood(batch, identifiers_, NeighbourhoodTarget::dense);
  const auto [sparse, sparse_gradient] =
      neighbourhood(batch, identifiers_, NeighbourhoodTarget::sparse);
  EXPECT_GT(dense, 1);
  EXPECT_NEAR(sparse / dense, 1, 1e-6);
  EXPECT_TRUE(torch::allclose(sparse_gradient, dense_gradient, 1e-6, 1e-12));
  EXPECT_GT((dense_gradient < 0).sum().item<int>(), 200);
}

std::vector<torch::Tensor> gradients_of(const torch::Tensor& loss,
                                        const torch::nn::Module& network) {
  loss.backward();
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& one : network.parameters()) gradients.push_back(one.grad());
  return gradients;
}

std::vector<torch::Tensor> gat_gradients(const GraphBatch& batch, Activations activations) {
  torch::manual_seed(3);
  Gat gat(GatShape{24, 2, 4, 8, 3}, 35, activations);
  return gradients_of(torch::nn::functional::cross_entropy(gat->forward(batch), batch.labels),
                      *gat);
}

std::vector<torch::Tensor> vgae_gradients(const GraphBatch& batch, Activations activations) {
  torch::manual_seed(3);
  Vgae vgae(VgaeShape{{80, 40}, 16, 1, 4, 4}, 35, activations);
  return gradients_of(vgae_loss(vgae->forward(batch), batch, NeighbourhoodTarget::dense), *vgae);
}

TEST_F(GraphNetworksOnTraffic, RecomputedActivationsGiveTheSameBits) {
  ASSERT_EQ(identifiers_, 35);
  torch::set_num_threads(1);
  const GraphBatch batch = make_batch(*store_, first_graphs(16));
  for (const auto gradients : {gat_gradients, vgae_gradients}) {
    const auto kept = gradients(batch, Activations::kept);
    const auto again = gradients(batch, Activations::recomputed);
    ASSERT_EQ(kept.size(), again.size());
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(torch::equal(kept[i], again[i])) << i;
  }
}

class CountedCache : public DeviceMemory {
 public:
  [[nodiscard]] std::string limitation() const override { return ""; }
  [[nodiscard]] std::optional<DeviceBytes> bytes() const override { return std::nullopt; }
  void synchronize() override {}
  void empty_cache() override { ++emptied; }
  int emptied = 0;
};

TEST(DifficultyScoring, ChunkedEmptiesTheCacheAfterEveryChunkAndTheLast) {
  const SampleGraphs file(30);
  const auto store = file.open();
  Vgae network(VgaeShape{{8, 4}, 4, 1, 2, 2}, 35);
  const auto emptied = [&](std::size_t count, DifficultyScoring scoring) {
    const std::vector<std::size_t> graphs(count, 7);
    CountedCache cache;
    score_graphs(network, *store, graphs, scoring, 64, at::kCPU, cache);
    return cache.emptied;
  };
  EXPECT_EQ(emptied(499, DifficultyScoring::chunked), 1);
  EXPECT_EQ(emptied(500, DifficultyScoring::chunked), 1);
  EXPECT_EQ(emptied(501, DifficultyScoring::chunked), 2);
  EXPECT_EQ(emptied(501, DifficultyScoring::one_by_one), 0);
  EXPECT_EQ(emptied(501, DifficultyScoring::batched), 0);
}

}  // namespace
}  // namespace memduel
