// What receiving a state of S bytes costs, in bytes allocated.
#include <gtest/gtest.h>

#include "test_counted_bytes.h"

namespace memduel {
namespace {

struct Received {
  double allocated = 0;
  double peak = 0;
  double kept = 0;  ///< state and frame
};

Received receive_state(const std::string& receive, std::size_t pieces, const State* into = nullptr,
                       const std::string& deserialize = "cpu_first", Side side = Side::client) {
  const State state = sample_state();
  const auto framing = make_framing("metadata_then_raw");
  RecordedCall call(upload_of(state, *framing), table_of(state).total_bytes / pieces + 1);
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

/// Bytes that a client holds once a state is loaded: the state, and what the frame keeps.
double loaded_state(const std::string& preset_name) {
  const State state = sample_state();
  const Optimizations chosen = preset(preset_name);
  RecordedCall call(upload_of(state, *chosen.framing), kPiece);
  CallFrame frame(Side::client);
  const MallocCounter counter;
  const IncomingModel model = chosen.receiver->receive(call, frame, nullptr);
  return static_cast<double>(counter.live());
}

// The state and the parsed message; before 1.12 also the bytes that were parsed.
TEST(FramingBytes, AClientOfAppfl112FreesWhatItParsed) {
  EXPECT_NEAR(loaded_state("appfl-original"), 3 * S, kSmall);
  EXPECT_NEAR(loaded_state("appfl-1.12-original"), 2 * S, kSmall);
  EXPECT_NEAR(loaded_state("appfl-1.12-as-implemented"), S, kSmall);
}

TEST(DeserializeBytes, ViewsCostNothingBesideTheBytes) {
  EXPECT_NEAR(receive_state("bytearray", 64, nullptr, "source_device").peak, 2 * S, 0.3 * S);
  EXPECT_NEAR(receive_state("bytearray", 64, nullptr, "cpu_first").peak, 2 * S, 0.3 * S);
  EXPECT_LT(receive_state("bytearray", 64, nullptr, "in_place_views").peak, 1.3 * S);
}

// The bytes (S, for they do not compress), the expanded tensors beside them (S), and blosc's two
// blocks while it expands; where deserialize copies, a clone of the tensors is larger than those.
TEST(CompressionBytes, ReceivingHoldsTheBytesTheExpandedStateAndAClone) {
  const State state = random_bits();
  for (const auto& [deserialize, expected] :
       {std::pair{"in_place_views", 2 * S + 2 * kBloscBlock}, {"cpu_first", 3 * S}}) {
    const Optimizations chosen =
        preset("appfl-as-implemented", {{"compression", "blosc"}, {"deserialize", deserialize}});
    CallFrame sending(Side::client);
    RecordedCall call(chosen.upload_serializer->prepare(state, {"client-1", Status::run, ""},
                                                        *chosen.framing, sending),
                      kPiece);
    CallFrame frame(Side::server);
    const MallocCounter counter;
    const IncomingModel model = chosen.upload_receiver->receive(call, frame, nullptr);
    EXPECT_NEAR(as_double(counter.peak()), expected, 2 * kSmall) << deserialize;
  }
}

}  // namespace
}  // namespace memduel
