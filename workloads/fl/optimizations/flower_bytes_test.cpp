// What Flower's ServerApp leaves alive, in bytes, for states of S bytes: two clients, and rounds
// from the second on, in which the strategy has a global state of its own.
#include <gtest/gtest.h>

#include <deque>

#include "rounds.h"
#include "support/worker_runs.h"
#include "test_counted_bytes.h"

namespace memduel {
namespace {

/// One tensor, as aggregate_arrayrecords has the temporaries of one array at a time.
State one_tensor() {
  return {{"a", torch::ones({1024, 1024})}};
}

/// Peak of the server's part of three rounds, beside the model.
double peak_of_rounds(const std::string& name) {
  const Optimizations chosen = preset(name, kSmallPieces);
  const WorkerConfig config = test_run_config(
      ::testing::TempDir(), {name, {{"tensors", {{"a", {1024, 1024}}}}}, kSmallPieces});
  const Model model{nullptr, one_tensor(), {"a"}};
  const auto rounds = make_rounds(config, chosen, model);
  rounds->begin(model.state);
  constexpr int kRounds = 3;
  std::deque<RecordedCall> calls;  // recorded before anything is counted
  for (int i = 0; i < 2 * kRounds; ++i)
    calls.emplace_back(upload_of(model.state, *chosen.framing), kPiece);

  auto call = calls.begin();
  const MallocCounter counter;
  std::vector<Upload> uploads;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<CallFrame> frames(2, CallFrame(Side::server));
    std::vector<Upload> replies;
    for (CallFrame& frame : frames) {
      const int client = static_cast<int>(replies.size()) + 1;
      replies.push_back(rounds->take(client, 1, *call++, frame));
    }
    uploads = std::move(replies);
    const auto answer = prepare_answer(rounds->average(uploads, {0.5, 0.5}), uploads, chosen);
    drop_answered(uploads, chosen);
  }
  return as_double(counter.peak());
}

// Receiving: the global state (S), a reply and its responses (2 S), and the second reply's
// responses, chunks, bytearray and bytes (4 S). FedAvg has the two replies of the round before (2
// S) as well. Averaging: the global state (S), both replies and their responses (4 S), and the sum,
// an array and its product with a weight (3 S).
TEST(FlowerRoundBytes, FedAvgPeaksWhileItReceivesAStrategyThatClearsWhileItAverages) {
  EXPECT_NEAR(peak_of_rounds("flower-1.42"), (1 + 2 + 4 + 2) * S, 2 * kSmall);
  EXPECT_NEAR(peak_of_rounds("flower-1.42-clear-replies"), (1 + 4 + 3) * S, 2 * kSmall);
}

struct TakenReply {
  double peak = 0;
  double waiting = 0;  ///< while the handler waits for the others
  double over = 0;     ///< when its call is over
};

TakenReply take_reply() {
  const Optimizations chosen = preset("flower-1.42", kSmallPieces);
  const State state = one_tensor();
  RecordedCall call(upload_of(state, *chosen.framing), kPiece);
  TakenReply taken;
  const MallocCounter counter;
  std::optional<CallFrame> frame(Side::server);
  const IncomingModel reply = chosen.upload_receiver->receive(call, *frame, nullptr);
  taken.peak = as_double(counter.peak());
  taken.waiting = static_cast<double>(counter.live());
  frame.reset();
  taken.over = static_cast<double>(counter.live());
  return taken;
}

// Responses, chunks, bytearray and bytes; of these the responses and the bytes wait.
TEST(ReceiveBytes, InflatingChunksHoldsFourStatesAndLeavesResponsesAndBytes) {
  const TakenReply taken = take_reply();
  EXPECT_NEAR(taken.peak, 4 * S, 0.3 * S);
  EXPECT_NEAR(taken.waiting, 2 * S, kSmall);
  EXPECT_NEAR(taken.over, S, kSmall);
}

}  // namespace
}  // namespace memduel
