// What a client keeps beside its model, in bytes: snapshots, differences, an optimizer,
// predictions, and the states that its script still names.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/worker_runs.h"
#include "test_counted_bytes.h"
#include "trainer.h"

namespace memduel {
namespace {

TEST(StateSnapshotBytes, BothCopiesCostTheSame) {
  const State state = sample_state();
  for (const char* value : {"deep_copy", "clone_detach"}) {
    const MallocCounter counter;
    const State copy = make_state_snapshot(value)->take(state);
    EXPECT_NEAR(as_double(counter.peak()), S, kSmall) << value;
  }
}

TEST(UploadStateBytes, AReferenceCostsNothing) {
  const State state = sample_state();
  for (const auto& [value, copies] :
       {std::pair{"deep_copy", 1.0}, {"clone_detach", 1.0}, {"reference", 0.0}}) {
    const MallocCounter counter;
    const State upload = make_upload_state(value)->take(state);
    EXPECT_NEAR(as_double(counter.peak()), copies * S, kSmall) << value;
  }
}

TEST(PseudoGradientBytes, InPlaceReusesThePreviousState) {
  const State trained = sample_state();
  for (const auto& [value, copies] : {std::pair{"out_of_place_kept", 1.0}, {"in_place", 0.0}}) {
    State previous = sample_state();
    const MallocCounter counter;
    const State gradient = make_pseudo_gradient(value)->compute(previous, trained, {"a", "b"});
    EXPECT_NEAR(as_double(counter.peak()), copies * S, kSmall) << value;
  }
}

TEST(PredictionsBytes, KeptOnesGrowWithTheSamplesReducedOnesDoNot) {
  const torch::Tensor scores = torch::zeros({1000, 10});
  const torch::Tensor labels = torch::zeros({1000}, torch::kLong);
  const auto live_after = [&](const char* value, int batches) {
    const MallocCounter counter;
    const auto predictions = choose_predictions(value)();
    for (int batch = 0; batch < batches; ++batch) predictions->add(scores, labels);
    return static_cast<double>(counter.live());
  };
  // 40,000 bytes of scores and 8,000 of labels a batch.
  EXPECT_NEAR(live_after("kept", 40), 40 * 48000, 40 * 5000);
  EXPECT_LT(live_after("reduced", 40), 5000);
}

/// A trainer of the MNIST network on eight images.
class TrainerBytes : public ::testing::Test {
 protected:
  double live_after_round(const nlohmann::json& changes, bool send_gradient) {
    WorkloadConfig workload;
    workload.kind = "federated";
    workload.local_steps = 1;
    workload.batch_size = 8;
    workload.optimizer = {"adam", 0.001};
    workload.send_gradient = send_gradient;
    const Optimizations chosen = preset("appfl-original", changes);
    Model model = make_model("mnist-cnn", 1);
    const auto trainer = make_step_trainer(workload, chosen, model, samples_, 1);
    const MallocCounter counter;
    trainer->train();
    return static_cast<double>(counter.live());
  }

  const Samples samples_{torch::zeros({8, 1, 28, 28}, torch::kByte),
                         torch::zeros({8}, torch::kLong), 0, 1};
  static constexpr double kModel = 4.0 * 582026;
};

TEST_F(TrainerBytes, AReusedOptimizerKeepsAdamsTwoMoments) {
  const double fresh = live_after_round({{"optimizer_state", "new_each_round"}}, false);
  const double reused = live_after_round({{"optimizer_state", "reused"}}, false);
  EXPECT_NEAR(reused - fresh, 2 * kModel, 0.2 * kModel);
}

TEST_F(TrainerBytes, ADroppedPreviousStateIsOneModelLess) {
  const double kept = live_after_round({{"previous_state", "kept"}}, true);
  const double dropped = live_after_round({{"previous_state", "dropped_after_gradient"}}, true);
  EXPECT_NEAR(kept - dropped, kModel, 0.2 * kModel);
}

// A whole run's roles share this process, so its peak is the sum of theirs: only the difference
// between two values of a switch says something.
class RunBytes : public ::testing::Test {
 protected:
  RunBytes()
      : dir_(std::filesystem::path(::testing::TempDir()) /
             ("allocations." + std::to_string(getpid()))) {}
  void TearDown() override { std::filesystem::remove_all(dir_); }

  /// Peak over two clients and the server, in multiples of S, of the run of five in which they
  /// overlapped most.
  double peak(const nlohmann::json& changes) {
    double largest = 0;
    for (int i = 0; i < 5; ++i) largest = std::max(largest, peak_of_one_run(changes));
    return largest;
  }

  double peak_of_one_run(const nlohmann::json& changes) {
    std::filesystem::create_directories(dir_);
    const WorkerConfig config = test_run_config(
        dir_, {"appfl-as-implemented",
               {{"rounds", 3}, {"tensors", {{"a", {1024, 512}}, {"b", {1024, 512}}}}},
               changes});
    const MallocCounter counter;
    run_roles(config);
    std::filesystem::remove_all(dir_);
    return as_double(counter.peak()) / S;
  }

  std::filesystem::path dir_;
};

// Each of two clients keeps the initial, the previous global and the sent state. How much of that
// is there at the peak of all roles together depends on how they overlap.
TEST_F(RunBytes, ReleasedClientLocalsAreOneToThreeStatesPerClient) {
  const double saved = peak({{"client_locals", "kept"}}) - peak({{"client_locals", "released"}});
  EXPECT_GT(saved, 2 * 1);
  EXPECT_LT(saved, 2 * 3 + 0.5);
}

// Of each of two clients: the received and the sent state, while the next one is received.
TEST_F(RunBytes, StatesReleasedOnSendAreOneToTwoStatesPerClient) {
  const double saved = peak({{"client_locals", "kept_until_next_receive"}}) -
                       peak({{"client_locals", "released_on_send"}});
  EXPECT_GT(saved, 2 * 1);
  EXPECT_LT(saved, 2 * 2 + 0.5);
}

// Two rounds more of three states on the server and of two on each client, of which the clients'
// are not all there at the peak of all roles together.
TEST_F(RunBytes, CollectionsBoundWhatCyclesHold) {
  const auto garbage = [&](int gc_rounds) {
    return peak_of_one_run({{"cyclic_garbage", "until_collected"},
                            {"server_gc_rounds", gc_rounds},
                            {"client_gc_rounds", gc_rounds}});
  };
  const double never = garbage(0);
  const double each = garbage(1);
  EXPECT_GT(never - each, 2 * (3 + 1));
  EXPECT_LT(never - each, 2 * (3 + 2 * 2) + 0.5);
  EXPECT_LE(garbage(2), never + 1);
}

}  // namespace
}  // namespace memduel
