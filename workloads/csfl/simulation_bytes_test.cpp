// What the switches of a simulation leave alive, in bytes.
#include <gtest/gtest.h>

#include "client_trainer.h"
#include "csfl/client_loader.h"
#include "method_run.h"
#include "optimizations/test_counted_bytes.h"
#include "support/catalog_files.h"

namespace memduel {
namespace {

/// Sixty-four images of MNIST's size, all one client's.
const Samples& digits() {
  static const Samples samples(torch::zeros({64, 1, 28, 28}, torch::kByte),
                               torch::zeros({64}, torch::kLong), 0, 1);
  return samples;
}

// A batch of eight: 8 × 784 floats and 8 labels, 25,152 bytes.
TEST(LoaderWorkersBytes, AWorkerKeepsTwoBatches) {
  constexpr double kBatch = 8 * 784 * 4 + 8 * 8;
  Indices all(64);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  // What LibTorch allocates once is allocated now.
  ClientLoader(digits(), all, 8, {}).epoch(1, 1, [](const Batch&) {});
  for (const int workers : {0, 2, 4}) {
    ClientLoader loader(digits(), all, 8, {workers});
    const MallocCounter counter;
    for (int epoch = 0; epoch < 3; ++epoch) loader.epoch(1, 1000, [](const Batch&) {});
    EXPECT_NEAR(static_cast<double>(counter.live()), 2 * workers * kBatch, 2 * workers * 2000 + 100)
        << workers;
    loader.drop_prefetched();
    EXPECT_NEAR(static_cast<double>(counter.live()), 0, 1000) << workers;
  }
}

double average_peak(Averaging averaging) {
  std::vector<ClientUpdate> updates;
  for (int i = 0; i < 4; ++i) updates.push_back({{{"a", torch::ones({1024, 1024})}}, 10, 0});
  const MallocCounter counter;
  const State mean = average_updates(averaging, updates);
  return as_double(counter.peak());
}

// In place: the sum and a product. New tensors: the old sum as well.
TEST(AveragingBytes, ANewTensorEachStepIsOneMore) {
  EXPECT_NEAR(average_peak(Averaging::in_place), 2 * S, kSmall);
  EXPECT_NEAR(average_peak(Averaging::new_tensor_each_step), 3 * S, kSmall);
}

TEST(AveragingBytes, BothEndInTheSameBitsAndClientsWithoutSamplesCountEqually) {
  torch::manual_seed(3);
  std::vector<ClientUpdate> updates;
  for (int i = 1; i <= 3; ++i) updates.push_back({{{"a", torch::rand({1000})}}, 7 * i, 0});
  const State a = average_updates(Averaging::in_place, updates);
  const State b = average_updates(Averaging::new_tensor_each_step, updates);
  EXPECT_EQ(bytes_of(a[0].tensor), bytes_of(b[0].tensor));
  for (ClientUpdate& update : updates) update.samples = 0;
  updates.resize(2);
  const State equal = average_updates(Averaging::in_place, updates);
  EXPECT_TRUE(torch::allclose(equal[0].tensor,
                              (updates[0].state[0].tensor + updates[1].state[0].tensor) / 2));
}

/// Live bytes of a method with eight clients, all of them in each round, after two rounds.
double live_after_rounds_once(const nlohmann::json& changes, int workers) {
  nlohmann::json values = preset_values("csfl-original");
  values.update(changes);
  const SimulationSwitches switches = make_simulation_switches(values);
  WorkloadConfig workload;
  workload.model = "mnist-cnn";
  workload.clients = 8;
  workload.batch_size = 8;
  workload.validation_batch_size = 8;
  workload.optimizer.learning_rate = 0.01;
  workload.simulation.clients_per_round = 8;
  workload.simulation.local_epochs = 1;
  SharedSamples samples{digits(), digits(), {}};
  for (std::size_t client = 0; client < 8; ++client) {
    Indices& share = samples.shares.emplace_back();
    for (std::size_t i = 0; i < 8; ++i) share.push_back(8 * client + i);
  }
  const MallocCounter counter;
  MethodRun run(workload, switches, samples, "round_robin", 1, workers);
  for (int round = 1; round <= 2; ++round) run.play_round(round);
  return static_cast<double>(counter.live());
}

/// The second time, without what LibTorch allocates once.
double live_after_rounds(const nlohmann::json& changes, int workers) {
  live_after_rounds_once(changes, workers);
  return live_after_rounds_once(changes, workers);
}

constexpr double kMnistModel = 4.0 * 582026;

TEST(UpdatesBytes, KeptOnesAreAStatePerClientOfTheRound) {
  const double kept = live_after_rounds({{"updates", "kept_until_next_round"}}, 1);
  const double released = live_after_rounds({{"updates", "released"}}, 1);
  EXPECT_NEAR(kept - released, 8 * kMnistModel, 0.2 * kMnistModel);
}

// Each with its gradients.
TEST(ParallelClientsBytes, EveryWorkerHoldsAReplicaWithItsGradients) {
  const double one = live_after_rounds({{"updates", "released"}}, 1);
  const double four = live_after_rounds({{"updates", "released"}}, 4);
  EXPECT_NEAR(four - one, 3 * 2 * kMnistModel, 0.3 * kMnistModel);
}

// Eight updates and their mean in every round.
TEST(CyclicGarbageBytes, HoldsEveryUpdateAndTheMean) {
  const nlohmann::json released = {{"updates", "released"}};
  nlohmann::json cycles = released;
  cycles["cyclic_garbage"] = "until_collected";
  EXPECT_NEAR(live_after_rounds(cycles, 1) - live_after_rounds(released, 1),
              2 * (8 + 1) * kMnistModel, 0.2 * kMnistModel);
}

}  // namespace
}  // namespace memduel
