// What the switches of a training on graphs leave alive, in bytes.
#include <gtest/gtest.h>

#include "data/loader_workers.h"
#include "graph_networks.h"
#include "support/malloc_counter.h"
#include "test_sample_graphs.h"

namespace memduel {
namespace {

constexpr std::int64_t kKnownIds = 35;

class GraphTrainingBytes : public ::testing::Test {
 protected:
  GraphTrainingBytes() { torch::set_num_threads(1); }

  const SampleGraphs file_{1000};
  const std::unique_ptr<GraphStore> store_ = file_.open();
  const GraphBatch batch_ = make_batch(*store_, first_graphs(100));
};

/// The second time, without what LibTorch allocates once.
template <class Run>
double settled(Run run) {
  run();
  return run();
}

TEST_F(GraphTrainingBytes, ScoringIsFlatInTheNumberOfGraphs) {
  Vgae network(VgaeShape{{80, 40}, 16, 1, 4, 4}, kKnownIds);
  const auto peak = [&](std::size_t count, DifficultyScoring scoring) {
    return settled([&] {
      const std::vector<std::size_t> graphs = first_graphs(count);
      const MallocCounter counter;
      score_graphs(network, *store_, graphs, scoring, 4096, at::kCPU);
      return static_cast<double>(counter.peak());
    });
  };
  // A score is a float.
  for (const auto scoring : {DifficultyScoring::one_by_one, DifficultyScoring::chunked})
    EXPECT_NEAR(peak(1000, scoring), peak(250, scoring) + 750 * 4, 20'000);
  const double batched = peak(500, DifficultyScoring::batched);
  EXPECT_NEAR(peak(1000, DifficultyScoring::batched), batched + 500 * 4, 0.02 * batched);
}

TEST_F(GraphTrainingBytes, ScoresAreTheSameHoweverManyAtOnce) {
  torch::manual_seed(1);
  Vgae network(VgaeShape{{80, 40}, 16, 1, 4, 4}, kKnownIds);
  const auto scores = [&](DifficultyScoring scoring) {
    return torch::tensor(
        score_graphs(network, *store_, first_graphs(1000), scoring, 4096, at::kCPU));
  };
  const torch::Tensor alone = scores(DifficultyScoring::one_by_one);
  EXPECT_TRUE(torch::equal(alone, scores(DifficultyScoring::chunked)));
  EXPECT_TRUE(torch::allclose(alone, scores(DifficultyScoring::batched), 1e-5, 0));
  EXPECT_GT(alone.std().item<double>(), 0.001);
}

// A target of ones and zeros is 4 bytes for every node and identifier.
TEST_F(GraphTrainingBytes, ASparseNeighbourhoodKeepsNoTarget) {
  const torch::Tensor scores = torch::randn({batch_.nodes(), 500}).requires_grad_();
  const auto kept = [&](NeighbourhoodTarget target) {
    return settled([&] {
      const MallocCounter counter;
      const torch::Tensor loss = neighbourhood_loss(scores, batch_, target);
      return static_cast<double>(counter.live());
    });
  };
  const auto peak = [&](NeighbourhoodTarget target) {
    return settled([&] {
      const MallocCounter counter;
      neighbourhood_loss(scores, batch_, target).backward();
      scores.mutable_grad() = torch::Tensor();
      return static_cast<double>(counter.peak());
    });
  };
  const double whole = 4.0 * static_cast<double>(scores.numel());
  EXPECT_NEAR(kept(NeighbourhoodTarget::dense), whole, 0.05 * whole);
  EXPECT_NEAR(kept(NeighbourhoodTarget::sparse), 0, 0.05 * whole);
  EXPECT_NEAR(peak(NeighbourhoodTarget::sparse), whole, 0.1 * whole);
  EXPECT_GT(peak(NeighbourhoodTarget::dense), 1.9 * whole);
}

TEST_F(GraphTrainingBytes, CheckpointedLayersKeepTheirInputsAlone) {
  const auto kept = [&](Activations activations) {
    Gat network(GatShape{48, 3, 8, 16, 2}, kKnownIds, activations);
    return settled([&] {
      const MallocCounter counter;
      const torch::Tensor scores = network->forward(batch_);
      return static_cast<double>(counter.live());
    });
  };
  EXPECT_LT(kept(Activations::recomputed), 0.6 * kept(Activations::kept));
}

TEST_F(GraphTrainingBytes, AWorkerKeepsTwoBatches) {
  for (const int workers : {0, 2, 8}) {
    const MallocCounter counter;
    LoaderWorkers<GraphBatch> loader(workers);
    loader.begin_epoch();
    for (int i = 0; i < 20; ++i) loader.made(make_batch(*store_, first_graphs(10)));
    const auto one = static_cast<double>(make_batch(*store_, first_graphs(10)).bytes());
    EXPECT_NEAR(static_cast<double>(counter.live()), 2 * workers * one, 2.0 * workers * 2000 + 100);
  }
}

}  // namespace
}  // namespace memduel
