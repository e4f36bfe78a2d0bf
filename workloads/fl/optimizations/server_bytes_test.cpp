// What a round costs the server, in bytes allocated, for states of S bytes.
#include <gtest/gtest.h>

#include <deque>

#include "aggregation.h"
#include "rounds.h"
#include "staging.h"
#include "support/worker_runs.h"
#include "test_counted_bytes.h"

namespace memduel {
namespace {

// ---- taking uploads in
// ------------------------------------------------------------------------------

/// Bytes live once a client's upload was taken in: while its handler waits for the others, and when
/// its call is over.
struct Taken {
  double waiting = 0;
  double over = 0;
};

Taken take_upload(const std::string& preset_name, const std::string& request_lifetime) {
  const WorkerConfig config = test_run_config(
      ::testing::TempDir(), {preset_name,
                             {{"tensors", {{"a", {1024, 512}}, {"b", {1024, 512}}}}},
                             {{"request_lifetime", request_lifetime}}});
  const Optimizations chosen = preset(preset_name, {{"request_lifetime", request_lifetime}});
  const Model model{nullptr, sample_state(), {"a", "b"}};
  const auto rounds = make_rounds(config, chosen, model);
  rounds->begin(model.state);
  RecordedCall call(upload_of(model.state, *chosen.framing), kPiece);
  Taken taken;
  const MallocCounter counter;
  std::optional<CallFrame> frame(Side::server);
  const Upload upload = rounds->take(1, 1, call, *frame);
  taken.waiting = static_cast<double>(counter.live());
  frame.reset();
  taken.over = static_cast<double>(counter.live());
  return taken;
}

// Besides the state: original keeps the message and the bytes read out of it; as implemented a
// second variable still names the bytes, and the loop's variables the last piece, twice.
TEST(RequestLifetimeBytes, AWaitingHandlerKeepsTwoStatesAsOriginalAndOneAsCoded) {
  for (const auto& [name, kept] :
       {std::pair{"appfl-original", 2.0}, {"appfl-as-implemented", 1.0 + 2.0 / kPieces}}) {
    const Taken until_barrier = take_upload(name, "kept_until_barrier");
    EXPECT_NEAR(until_barrier.waiting, (1 + kept) * S, kSmall) << name;
    EXPECT_NEAR(until_barrier.over, S, kSmall) << name;
    EXPECT_NEAR(take_upload(name, "released").waiting, S, kSmall) << name;
  }
}

// ---- averaging
// --------------------------------------------------------------------------------------

constexpr double kBlock = 262144;

struct Averaged {
  double peak = 0;
  double kept = 0;  ///< by the aggregator, once the answer is gone
};

Averaged average(const std::string& value) {
  const Model model{nullptr, sample_state(), {"a", "b"}};
  const State one = sample_state();
  const State two = sample_state();
  const auto aggregator = make_aggregator(value, model, UploadKind::weights);
  const MallocCounter counter;
  for (int round = 0; round < 2; ++round) aggregator->aggregate({{1, 0.5, &one}, {2, 0.5, &two}});
  return {as_double(counter.peak()), static_cast<double>(counter.live())};
}

// Out of place: global and step stay. In place: the global state's own copy stays.
TEST(AggregateBytes, TheKeptStepIsOneMoreState) {
  EXPECT_NEAR(average("out_of_place_kept_step").kept, 2 * S, kSmall);
  EXPECT_NEAR(average("in_place").kept, S, kSmall);
  // The peak is the same, the answer's copy beside two states and temporaries: it gains nothing.
  EXPECT_NEAR(average("out_of_place_kept_step").peak, average("in_place").peak, 0.5 * S);
}

/// Peak of folding so many uploads in pieces of a block's size.
double fold(const std::string& staging_value, std::size_t clients) {
  const Model model{nullptr, sample_state(), {"a", "b"}};
  const auto framing = make_framing("metadata_then_raw");
  std::deque<RecordedCall> calls;
  for (std::size_t i = 0; i < clients; ++i)
    calls.emplace_back(upload_of(model.state, *framing), static_cast<std::size_t>(kBlock),
                       HeldBy::reader);
  const auto staging = make_staging(staging_value, state_bytes(model.state), ::testing::TempDir());
  const MallocCounter counter;
  std::vector<std::unique_ptr<ModelStream>> streams;
  std::vector<FoldInput> inputs;
  for (std::size_t i = 0; i < clients; ++i) {
    streams.push_back(framing->open(calls[i]));
    streams.back()->read_table();
    inputs.push_back(
        {static_cast<int>(i) + 1, 1 / static_cast<double>(clients), streams.back().get()});
  }
  streaming_fold(model, model.state, inputs, UploadKind::weights, *staging);
  return as_double(counter.peak());
}

// What was read, what is folded, and the piece that is being read: of one client, however many
// there are.
TEST(AggregateBytes, TheFoldHoldsTwoBlocksAndOnePiece) {
  EXPECT_NEAR(fold("unlinked_file", 2), 3 * kBlock, 0.2 * kBlock);
  EXPECT_NEAR(fold("unlinked_file", 16), 3 * kBlock, 0.2 * kBlock);
}

TEST(StagingBytes, TheSecondCopyIsOneState) {
  EXPECT_NEAR(fold("second_copy", 2) - fold("unlinked_file", 2), S, kSmall);
}

// ---- answering
// ------------------------------------------------------------------------------------

struct Answer {
  double peak = 0;
  double sending = 0;  ///< live while all handlers send
};

/// Prepares an answer and makes it ready for three clients at once.
Answer answer(const std::string& response, const std::string& serialize) {
  const auto framing = make_framing("metadata_then_raw");
  const auto serializer = make_serializer(serialize);
  const auto responder = make_responder(response, {*framing, *serializer});
  State global = sample_state();
  const MallocCounter counter;
  const auto prepared = responder->prepare(std::move(global), 3);
  std::vector<CallFrame> frames(3, CallFrame(Side::server));
  std::vector<Outgoing> outgoing;
  for (CallFrame& frame : frames) outgoing.push_back(prepared->outgoing({}, frame));
  return {as_double(counter.peak()), static_cast<double>(counter.live())};
}

TEST(ResponseBytes, PerClientOnceOrNever) {
  EXPECT_NEAR(answer("serialized_per_client", "scoped_buffer").peak, 3 * S, 2 * kSmall);
  EXPECT_NEAR(answer("shared_buffer", "scoped_buffer").peak, S, kSmall);
  EXPECT_NEAR(answer("streamed_from_tensors", "scoped_buffer").peak, 0, kSmall);
}

// The state was there before anything was counted: without it there are two copies more than
// before.
TEST(ResponseBytes, TheStateIsFreedOnceAllHandlersHaveTheirCopies) {
  EXPECT_NEAR(answer("serialized_per_client", "scoped_buffer").sending, 3 * S, 2 * kSmall);
  EXPECT_NEAR(answer("serialized_then_dropped", "scoped_buffer").sending, 2 * S, 2 * kSmall);
}

struct Answered {
  double peak = 0;
  double left = 0;  ///< live once the answer is made, against before
};

/// Makes the answer of a round with three uploads.
Answered answer_three(const std::string& local_models) {
  const Optimizations chosen = preset("appfl-optimized", {{"local_models", local_models}});
  std::vector<Upload> uploads;
  for (int client = 1; client <= 3; ++client)
    uploads.push_back({client, {}, sample_state(), nullptr});
  State global = sample_state();
  const MallocCounter counter;
  const auto prepared = prepare_answer(std::move(global), uploads, chosen);
  return {as_double(counter.peak()), static_cast<double>(counter.live())};
}

// The answer is encoded (S), then the average is dropped (S). The clients' states are still there,
// or made room for it.
TEST(LocalModelsBytes, AreOneStatePerClientWhileTheAnswerIsMade) {
  const Answered kept = answer_three("kept_until_done");
  EXPECT_NEAR(kept.peak, S, kSmall);
  EXPECT_NEAR(kept.left, 0, kSmall);
  const Answered cleared = answer_three("cleared_first");
  EXPECT_NEAR(cleared.peak, 0, kSmall);
  EXPECT_NEAR(cleared.left, -3 * S, kSmall);
}

}  // namespace
}  // namespace memduel
