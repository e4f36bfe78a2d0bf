// What sending a state of S bytes costs, in bytes allocated.
#include <gtest/gtest.h>

#include "test_counted_bytes.h"

namespace memduel {
namespace {

struct Sent {
  double peak = 0;
  double kept = 0;  ///< by the frame, once all is sent
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

TEST(ModelChunkingBytes, AChunkAtATimeIsSerialized) {
  const State state = sample_state();
  double peak = 0;
  for (const State& chunk : split_state(state, static_cast<std::size_t>(S / 2)))
    peak = std::max(peak, send_state(chunk, "scoped_buffer", "metadata_then_raw").peak);
  EXPECT_NEAR(peak, S / 2, 2 * kSmall);
}

Sent send_compressed(const State& state, const std::string& compression) {
  const Optimizations chosen = preset("appfl-optimized", {{"compression", compression}});
  ForgetfulCall call;
  CallFrame frame(Side::client);
  const MallocCounter counter;
  send(call,
       chosen.upload_serializer->prepare(state, {"client-1", Status::run, ""}, *chosen.framing,
                                         frame),
       kPiece);
  return {as_double(counter.peak()), static_cast<double>(counter.live())};
}

// Uncompressed: one buffer. Compressed: each tensor's own buffer, which grows by an eighth, and all
// of them joined. Where next to nothing is left of the state: a buffer for one block and blosc's
// own two, whatever the state's size.
TEST(CompressionBytes, SendingCostsTwiceWhatIsLeftOfTheState) {
  const State bits = random_bits();
  EXPECT_NEAR(send_compressed(bits, "none").peak, S, 2 * kSmall);
  EXPECT_NEAR(send_compressed(bits, "blosc").peak, (1 + 1.125) * S, 2 * kSmall);
  EXPECT_NEAR(send_compressed(bits, "blosc").kept, 0, kSmall);
  EXPECT_NEAR(send_compressed(sample_state(), "blosc").peak, 3 * kBloscBlock, 2 * kSmall);
}

}  // namespace
}  // namespace memduel
