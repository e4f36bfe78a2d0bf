// What each switch does to memory, in bytes allocated: of a state of S bytes, or of a whole run.
// A whole run's roles share this process, so its peak is the sum of theirs; there only differences
// between two values of one switch are asserted, in multiples of S.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "workloads/federated/test_run.h"
#include "workloads/federated/trainer.h"
#include "workloads/optimizations/malloc_counter.h"
#include "workloads/optimizations/optimizations.h"
#include "workloads/optimizations/staging.h"
#include "workloads/optimizations/streaming_fold.h"
#include "workloads/transport/loop_call.h"

namespace memduel {
namespace {

constexpr std::size_t kPiece = 65536;
constexpr std::size_t kPieces = 64;
constexpr double S = static_cast<double>(kPiece * kPieces);  // 4 MiB
/// What tables, names and bookkeeping may add.
constexpr double kSmall = 0.05 * S;

State sample_state() {
  return {{"a", torch::ones({1024, 512})}, {"b", torch::ones({1024, 512})}};
}

double as_double(std::size_t bytes) {
  return static_cast<double>(bytes);
}

Optimizations preset(const std::string& name, const nlohmann::json& changes = {}) {
  auto values =
      nlohmann::json::parse(read_file(std::string(MEMDUEL_CONFIGS "/presets/") + name + ".json"))
          .at("optimizations");
  if (!changes.is_null()) values.update(changes);
  return make_optimizations(values, std::size_t{1} << 20);
}

// ---- making and keeping copies
// -------------------------------------------------------------------

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

// ---- sending
// --------------------------------------------------------------------------------------

struct Sent {
  double peak = 0;
  double kept = 0;  ///< by the frame, once all is sent
};

/// Sends into a call that forgets what it is given.
class ForgetfulCall final : public Call {
 public:
  std::optional<Message> read() override { return std::nullopt; }
  void write(std::span<const Segment> /*segments*/) override {}
  void cancel() noexcept override {}
  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  std::string peer_ = "nobody";
};

Sent send_state(const State& state, const std::string& serialize, const std::string& framing_name,
                std::size_t piece_bytes = kPiece) {
  const auto framing = make_framing(framing_name);
  const auto serializer = make_serializer(serialize);
  ForgetfulCall call;
  CallFrame frame(Side::client);
  const MallocCounter counter;
  send(call, serializer->prepare(state, {"client-1", Status::run, ""}, *framing, frame),
       piece_bytes);
  return {as_double(counter.peak()), static_cast<double>(counter.live())};
}

// A growing buffer (up to an eighth too large) that the frame keeps; the embedded message adds the
// field, kept too, and the serialized message.
TEST(SerializeBytes, BufferedCopiesStayScopedOnesGoStreamedOnesDoNotExist) {
  const State state = sample_state();
  const Sent buffered = send_state(state, "buffered_copies", "metadata_then_raw");
  EXPECT_GE(buffered.peak, S);
  EXPECT_LE(buffered.peak, 2.2 * S) << "old and new while the buffer grows";
  EXPECT_GE(buffered.kept, S);
  const Sent scoped = send_state(state, "scoped_buffer", "metadata_then_raw");
  EXPECT_NEAR(scoped.peak, S, 2 * kSmall);
  EXPECT_NEAR(scoped.kept, 0, kSmall);
  EXPECT_NEAR(send_state(state, "streamed_from_tensors", "metadata_then_raw").peak, 0, kSmall);
}

TEST(FramingBytes, EmbeddingAddsTheFieldAndTheMessage) {
  const State state = sample_state();
  const Sent raw = send_state(state, "scoped_buffer", "metadata_then_raw");
  const Sent embedded = send_state(state, "scoped_buffer", "embedded_in_message");
  EXPECT_NEAR(embedded.peak - raw.peak, S, 2 * kSmall)
      << "three buffers, of which the first goes once copied: two at once";
  const Sent kept = send_state(state, "buffered_copies", "embedded_in_message");
  EXPECT_NEAR(kept.kept, 2 * S, 0.25 * S) << "serialized and field";
}

// Slice, field, serialized piece and the transport's copy are alive at once: four pieces.
TEST(PieceBytesSwitch, SmallPiecesMakeSmallCopies) {
  const State state = sample_state();
  const double scoped = S;
  EXPECT_NEAR(send_state(state, "scoped_buffer", "metadata_then_raw", 262144).peak - scoped,
              4 * 262144.0, kSmall);
  EXPECT_NEAR(send_state(state, "scoped_buffer", "metadata_then_raw", 1048576).peak - scoped,
              4 * 1048576.0, 2 * kSmall);
}

// ---- receiving
// ------------------------------------------------------------------------------------

struct Received {
  double allocated = 0;
  double peak = 0;
  double kept = 0;  ///< state and frame
};

/// Receives the same message again and again without allocating for it.
class RepeatedCall final : public Call {
 public:
  RepeatedCall(const State& state, std::size_t pieces) {
    const std::string table = encode_table(table_of(state));
    std::string bytes = table;
    bytes.append(bytes_of(state[0].tensor)).append(bytes_of(state[1].tensor));
    add(encode_message({"client-1", Status::run, ""}, {}));
    const std::size_t size = bytes.size() / pieces + 1;
    for (std::size_t at = 0; at < bytes.size(); at += size) add(bytes.substr(at, size));
  }

  std::optional<Message> read() override {
    if (next_ == messages_.size()) return std::nullopt;
    Message message;
    message.segments.emplace_back(messages_[next_++]);
    return message;
  }
  void write(std::span<const Segment> /*segments*/) override {}
  void cancel() noexcept override {}
  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  void add(const std::string& data) { messages_.push_back(data_buffer_prefix(data.size()) + data); }

  std::vector<std::string> messages_;
  std::size_t next_ = 0;
  std::string peer_ = "client-1";
};

Received receive_state(const std::string& receive, std::size_t pieces, const State* into = nullptr,
                       const std::string& deserialize = "cpu_first", Side side = Side::client) {
  RepeatedCall call(sample_state(), pieces);
  const auto framing = make_framing("metadata_then_raw");
  const auto deserializer = make_deserializer(deserialize);
  const auto receiver = make_receiver(receive, {*framing, *deserializer});
  CallFrame frame(side);
  const MallocCounter counter;
  const IncomingModel model = receiver->receive(call, frame, into);
  return {as_double(counter.allocated()), as_double(counter.peak()),
          static_cast<double>(counter.live())};
}

// bytes += piece: n pieces copy (1 + 2 + … + n) / n = (n + 1) / 2 times the whole. Beside that each
// piece is joined, parsed and read, 3 S in all, and the state is S.
TEST(ReceiveBytes, ConcatenationCopiesQuadratically) {
  for (const std::size_t pieces : {16U, 64U}) {
    const double expected = (static_cast<double>(pieces) + 1) / 2 * S + 3 * S + S;
    EXPECT_NEAR(receive_state("concatenate", pieces).allocated, expected, 0.05 * expected);
  }
}

// A list (S), joined copies of each piece (3 S), a growing stream (linear, by an eighth: at most
// 9 S), its copy and the state.
TEST(ReceiveBytes, TheOtherGatheringsAreLinear) {
  for (const char* value : {"bytearray", "chunk_list"}) {
    const double few = receive_state(value, 64).allocated;
    const double many = receive_state(value, 256).allocated;
    EXPECT_LT(many, 1.5 * few) << value;
    EXPECT_LT(many, 16 * S) << value;
  }
}

TEST(ReceiveBytes, IntoTensorsAllocatesNothingPerPiece) {
  const State into = sample_state();
  EXPECT_NEAR(receive_state("into_tensors", 16, &into).allocated, 0, kSmall);
  EXPECT_NEAR(receive_state("into_tensors", 1024, &into).allocated, 0, 2 * kSmall);
  EXPECT_NEAR(receive_state("into_tensors", 16).allocated, S, kSmall) << "new tensors";
}

// Peaks: the list and the stream that it is written to; the stream and its copy; bytes and state.
TEST(ReceiveBytes, PeaksAreTwoStatesWhereAllIsGathered) {
  EXPECT_NEAR(receive_state("bytearray", 64).peak, 2 * S, 0.3 * S);
  EXPECT_NEAR(receive_state("chunk_list", 64).peak, 2 * S, 0.3 * S);
  EXPECT_NEAR(receive_state("concatenate", 64).peak, 2 * S, 0.3 * S);
}

TEST(DeserializeBytes, ViewsCostNothingBesideTheBytes) {
  EXPECT_NEAR(receive_state("bytearray", 64, nullptr, "source_device").peak, 2 * S, 0.3 * S);
  EXPECT_NEAR(receive_state("bytearray", 64, nullptr, "cpu_first").peak, 2 * S, 0.3 * S);
  EXPECT_LT(receive_state("bytearray", 64, nullptr, "in_place_views").peak, 1.3 * S);
}

// As coded the handler still names the bytes in a second variable.
TEST(RequestLifetimeBytes, TheServersFrameKeepsTheBytesUntilReleased) {
  RepeatedCall call(sample_state(), kPieces);
  const Optimizations chosen = preset("appfl-as-coded");
  const MallocCounter counter;
  CallFrame frame(Side::server);
  const IncomingModel model = chosen.receiver->receive(call, frame, nullptr);
  EXPECT_NEAR(static_cast<double>(counter.live()), 2 * S, 0.3 * S);
  frame.release();
  EXPECT_NEAR(static_cast<double>(counter.live()), S, kSmall);
}

// ---- averaging
// ------------------------------------------------------------------------------------

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

double fold(const std::string& staging_value) {
  const Model model{nullptr, sample_state(), {"a", "b"}};
  RepeatedCall calls[2] = {{sample_state(), kPieces}, {sample_state(), kPieces}};
  const auto framing = make_framing("metadata_then_raw");
  const auto staging = make_staging(staging_value, state_bytes(model.state), ::testing::TempDir());
  const MallocCounter counter;
  std::vector<std::unique_ptr<ModelStream>> streams;
  std::vector<FoldInput> inputs;
  for (int i = 0; i < 2; ++i) {
    streams.push_back(framing->open(calls[i]));
    streams.back()->read_table();
    inputs.push_back({i + 1, 0.5, streams.back().get()});
  }
  streaming_fold(model, model.state, inputs, UploadKind::weights, *staging);
  return as_double(counter.peak());
}

TEST(AggregateBytes, TheFoldHoldsBlocksOnly) {
  EXPECT_LT(fold("unlinked_file"), 2 * 262144 + kSmall);
}

TEST(StagingBytes, TheSecondCopyIsOneState) {
  EXPECT_NEAR(fold("second_copy") - fold("unlinked_file"), S, kSmall);
}

// ---- answering
// ------------------------------------------------------------------------------------

/// Peak of preparing an answer and making it ready for three clients at once.
double answer(const std::string& response, const std::string& serialize) {
  const auto framing = make_framing("metadata_then_raw");
  const auto serializer = make_serializer(serialize);
  const auto responder = make_responder(response, {*framing, *serializer});
  State global = sample_state();
  const MallocCounter counter;
  const auto prepared = responder->prepare(std::move(global));
  std::vector<CallFrame> frames(3, CallFrame(Side::server));
  std::vector<Outgoing> outgoing;
  for (CallFrame& frame : frames) outgoing.push_back(prepared->outgoing({}, frame));
  return as_double(counter.peak());
}

TEST(ResponseBytes, PerClientOnceOrNever) {
  EXPECT_NEAR(answer("serialized_per_client", "scoped_buffer"), 3 * S, 2 * kSmall);
  EXPECT_NEAR(answer("shared_buffer", "scoped_buffer"), S, kSmall);
  EXPECT_NEAR(answer("streamed_from_tensors", "scoped_buffer"), 0, kSmall);
}

TEST(ModelChunkingBytes, AChunkAtATimeIsSerialized) {
  const State state = sample_state();
  double peak = 0;
  for (const State& chunk : split_state(state, static_cast<std::size_t>(S / 2)))
    peak = std::max(peak, send_state(chunk, "scoped_buffer", "metadata_then_raw").peak);
  EXPECT_NEAR(peak, S / 2, 2 * kSmall);
}

// ---- training
// -------------------------------------------------------------------------------------

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
    workload.optimizer = "adam";
    workload.learning_rate = 0.001;
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

// ---- cleaning up
// -----------------------------------------------------------------------------------

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

// Small blocks come from the heap, whose free pages below a live block only a trim gives back.
TEST(CleanupBytes, ATrimGivesBackWhatFreedBlocksHold) {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 4096; ++i) blocks.push_back(std::make_unique<char[]>(16384));
  blocks.erase(blocks.begin(), blocks.end() - 1);
  clean_up(Cleanup::none);
  const std::size_t before = resident_bytes();
  clean_up(Cleanup::trim);
  EXPECT_GT(before - resident_bytes(), 4096U * 16384U / 10 * 9);
}

// ---- whole runs: lifetimes across calls
// ------------------------------------------------------------

class RunBytes : public ::testing::Test {
 protected:
  RunBytes()
      : dir_(std::filesystem::path(::testing::TempDir()) /
             ("allocations." + std::to_string(getpid()))) {}
  void TearDown() override { std::filesystem::remove_all(dir_); }

  /// Peak over two clients and the server, in multiples of S.
  double peak(const nlohmann::json& changes) {
    std::filesystem::create_directories(dir_);
    const WorkerConfig config = test_run_config(
        dir_, {"appfl-as-coded",
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

}  // namespace
}  // namespace memduel
