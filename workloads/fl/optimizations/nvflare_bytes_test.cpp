// What NVFlare's policies leave alive, in bytes, for states of S bytes.
#include <gtest/gtest.h>

#include <deque>

#include "rounds.h"
#include "support/worker_runs.h"
#include "test_counted_bytes.h"

namespace memduel {
namespace {

/// Two tensors of 4 MiB each: what is offloaded is larger than 2 MiB.
constexpr double kLarge = 2 * S;

State large_state() {
  return {{"a", torch::ones({1024, 1024})}, {"b", torch::ones({1024, 1024})}};
}

/// The server's part of rounds with three clients, under a preset of NVFlare.
class WeightedRoundBytes : public ::testing::Test {
 protected:
  void start(nlohmann::json changes, const std::string& name = "nvflare-as-implemented") {
    changes.update(kSmallPieces);
    chosen_ = preset(name, changes);
    config_ =
        test_run_config(::testing::TempDir(),
                        {name, {{"tensors", {{"a", {1024, 1024}}, {"b", {1024, 1024}}}}}, changes});
    rounds_ = make_rounds(config_, chosen_, model_);
    rounds_->begin(model_.state);
    calls_.clear();
    for (int i = 0; i < kMostUploads; ++i)
      calls_.emplace_back(upload_of(model_.state, *chosen_.framing), kPiece);
    next_call_ = 0;
  }

  Upload take(int client) {
    CallFrame frame(Side::server);
    return rounds_->take(client, 1, calls_[next_call_++], frame);
  }

  std::vector<Upload> take_three() {
    std::vector<Upload> uploads;
    for (int client = 1; client <= 3; ++client) uploads.push_back(take(client));
    return uploads;
  }

  void play_round() {
    std::vector<Upload> uploads = take_three();
    rounds_->average(uploads, {});
  }

  static constexpr int kMostUploads = 6;
  Optimizations chosen_;
  WorkerConfig config_;
  std::deque<RecordedCall> calls_;  ///< recorded before anything is counted
  std::size_t next_call_ = 0;
  const Model model_{nullptr, large_state(), {"a", "b"}};
  std::unique_ptr<Rounds> rounds_;
};

TEST_F(WeightedRoundBytes, CollectedUploadsAreOneStatePerClientInTimeOnesOneTotal) {
  start({{"aggregate", "collect_all"}});
  {
    const MallocCounter counter;
    const std::vector<Upload> uploads = take_three();
    EXPECT_NEAR(static_cast<double>(counter.live()), 3 * kLarge, kSmall);
  }
  start({{"aggregate", "in_time"}});
  const MallocCounter counter;
  const std::vector<Upload> uploads = take_three();
  EXPECT_NEAR(static_cast<double>(counter.live()), kLarge, kSmall);
  // The total, and the upload that is being taken in.
  EXPECT_NEAR(as_double(counter.peak()), 2 * kLarge, kSmall);
}

TEST_F(WeightedRoundBytes, OffloadedUploadsAreInNoHeap) {
  start({{"aggregate", "collect_all"}, {"tensor_offload", "disk"}});
  const MallocCounter counter;
  std::vector<Upload> uploads = take_three();
  EXPECT_LT(as_double(counter.peak()), kSmall + 262144);
  // The total, and one tensor's mean beside it.
  rounds_->average(uploads, {});
  EXPECT_LT(as_double(counter.peak()), 1.5 * kLarge + kSmall + 262144);
  EXPECT_NEAR(static_cast<double>(counter.live()), 0, kSmall);
}

// The fingerprint of kept updates: (clients + 1) × model in every round.
TEST_F(WeightedRoundBytes, CyclicGarbageGrowsByEveryUploadAndTheMeanUntilItIsCollected) {
  start({{"cyclic_garbage", "until_collected"}});
  const MallocCounter counter;
  play_round();
  const auto first = static_cast<double>(counter.live());
  play_round();
  EXPECT_NEAR(static_cast<double>(counter.live()) - first, (3 + 1) * kLarge, kSmall);
  CleanupPolicy policy({.light_every = 2, .light = collection(*chosen_.garbage, CudaCache::kept)});
  policy.round_ended(1);
  EXPECT_GT(static_cast<double>(counter.live()), 7 * kLarge);
  policy.round_ended(2);
  EXPECT_NEAR(static_cast<double>(counter.live()), 0, kSmall);
}

// NVFlare 2.9: the mean and the answer's bytes, once for all clients, in every round.
TEST_F(WeightedRoundBytes, TheServerOf29KeepsTwoStatesARoundUntilTheyAreCollected) {
  start({}, "nvflare-2.9");
  const MallocCounter counter;
  for (int round = 1; round <= 2; ++round) {
    std::vector<Upload> uploads = take_three();
    const auto answer = prepare_answer(rounds_->average(uploads, {}), uploads, chosen_);
    for (int client = 1; client <= 3; ++client) {
      CallFrame frame(Side::server);
      hold_serialized(*chosen_.garbage, answer->outgoing({}, frame));
    }
  }
  EXPECT_NEAR(static_cast<double>(counter.live()), 2 * 2 * kLarge, kSmall);
  chosen_.garbage->drop();
  EXPECT_NEAR(static_cast<double>(counter.live()), 0, kSmall);
}

// One serialized array a round.
TEST(SerializedGarbageBytes, AClientOf29KeepsOneStateARound) {
  const Optimizations chosen = preset("nvflare-2.9", kSmallPieces);
  const State state = large_state();
  const MallocCounter counter;
  for (int round = 1; round <= 3; ++round) {
    CallFrame frame(Side::client);
    hold_serialized(*chosen.garbage,
                    chosen.upload_serializer->prepare(state, {}, *chosen.framing, frame));
  }
  EXPECT_NEAR(static_cast<double>(counter.live()), 3 * kLarge, kSmall);
}

TEST_F(WeightedRoundBytes, WithoutCyclesNothingIsHeld) {
  start({{"cyclic_garbage", "none"}});
  const MallocCounter counter;
  play_round();
  play_round();
  EXPECT_NEAR(static_cast<double>(counter.live()), 0, kSmall);
}

TEST(ReceiveBytes, NewTensorsAreTheStateAndNothingElse) {
  const Optimizations chosen = preset("nvflare-as-implemented", kSmallPieces);
  const State into = large_state();
  RecordedCall call(upload_of(into, *chosen.framing), kPiece);
  CallFrame frame(Side::client);
  const MallocCounter counter;
  const IncomingModel received = chosen.receiver->receive(call, frame, &into);
  EXPECT_NEAR(as_double(counter.peak()), kLarge, kSmall);
  EXPECT_FALSE(received.state[0].tensor.is_alias_of(into[0].tensor));
}

}  // namespace
}  // namespace memduel
