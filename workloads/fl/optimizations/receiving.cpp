#include "workloads/optimizations/receive.h"

#include <algorithm>
#include <unordered_map>

#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

std::vector<std::string> list_pieces(Call& call, CopiedPiece& last) {
  std::vector<std::string> pieces;
  while (std::optional<CopiedPiece> piece = read_piece_copied(call)) {
    last.message = std::move(piece->message);
    pieces.push_back(std::move(piece->data));
  }
  return pieces;
}

std::size_t total_size(const std::vector<std::string>& pieces) {
  std::size_t total = 0;
  for (const std::string& piece : pieces) total += piece.size();
  return total;
}

/// received += piece: old and new are alive at once, and all bytes are copied for every piece.
SharedBytes add_to_bytes(Call& call) {
  Bytes received;
  while (const std::optional<CopiedPiece> piece = read_piece_copied(call)) {
    Bytes longer;
    longer.reserve(received.size() + piece->data.size());
    longer.append(received.view());
    longer.append(piece->data);
    received = std::move(longer);
  }
  return share(std::move(received));
}

/// b"".join(pieces)
SharedBytes join_list(Call& call) {
  CopiedPiece last;
  const std::vector<std::string> pieces = list_pieces(call, last);
  Bytes joined;
  joined.reserve(total_size(pieces));
  for (const std::string& piece : pieces) joined.append(piece);
  return share(std::move(joined));
}

SharedBytes concatenate(Call& call, CallFrame& frame) {
  return frame.side() == Side::client ? add_to_bytes(call) : join_list(call);
}

SharedBytes grow_bytearray(Call& call, CallFrame& /*frame*/) {
  Bytes received;
  while (const std::optional<CopiedPiece> piece = read_piece_copied(call))
    received.append(piece->data);
  return share(std::move(received));
}

/// A list of pieces, written to a BytesIO; read() after piecewise writes copies. The server's
/// handler keeps its loop variables, the last piece and its message.
SharedBytes list_then_stream(Call& call, CallFrame& frame) {
  CopiedPiece last;
  std::vector<std::string> pieces = list_pieces(call, last);
  if (frame.side() == Side::server && !pieces.empty()) {
    last.data = pieces.back();
    frame.keep(std::make_shared<const CopiedPiece>(std::move(last)));
  }
  Bytes stream;
  for (const std::string& piece : pieces) stream.append(piece);
  pieces.clear();
  pieces.shrink_to_fit();
  return share(Bytes::copy_of(stream.view()));
}

/// Everything into one buffer first, then into tensors.
class GatheringReceiver final : public ModelReceiver {
 public:
  GatheringReceiver(ReceiveParts parts, GatherPieces gather)
      : parts_(parts), gather_(std::move(gather)) {}

  [[nodiscard]] IncomingModel receive(Call& call, CallFrame& frame,
                                      const State* /*into*/) const override {
    GatheredModel gathered = parts_.framing.gather(call, gather_, frame);
    return {std::move(gathered.header),
            parts_.deserializer.load(std::move(gathered.bytes), call.peer())};
  }

 private:
  ReceiveParts parts_;
  GatherPieces gather_;
};

/// The tensors of `state` in the table's order.
State in_order_of(const StateTable& table, const State& state) {
  std::unordered_map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& entry : state) by_name.emplace(entry.name, &entry);
  State ordered;
  for (const TensorRecord& record : table.tensors) ordered.push_back(*by_name.at(record.name));
  return ordered;
}

class StreamingReceiver : public ModelReceiver {
 public:
  explicit StreamingReceiver(const Framing& framing) : framing_(framing) {}

  [[nodiscard]] IncomingModel receive(Call& call, CallFrame& /*frame*/,
                                      const State* into) const override {
    const std::unique_ptr<ModelStream> stream = framing_.open(call);
    const StateTable table = stream->read_table();
    if (stream->header().status == Status::again) return {stream->header(), {}};
    if (into != nullptr) expect_same_tensors(table, table_of(*into), call.peer());
    State state = into != nullptr ? in_order_of(table, *into) : allocate_state(table);
    for (const NamedTensor& entry : state)
      fill_tensor(entry.tensor, [&](char* to) { stream->read_data(to, entry.tensor.nbytes()); });
    stream->expect_end();
    return {stream->header(), std::move(state)};
  }

 private:
  const Framing& framing_;
};

class NewTensorsReceiver final : public StreamingReceiver {
 public:
  using StreamingReceiver::StreamingReceiver;

  [[nodiscard]] IncomingModel receive(Call& call, CallFrame& frame,
                                      const State* /*into*/) const override {
    return StreamingReceiver::receive(call, frame, nullptr);
  }
};

using MakeModelReceiver = std::unique_ptr<ModelReceiver> (*)(ReceiveParts);

template <SharedBytes (*gather)(Call&, CallFrame&)>
std::unique_ptr<ModelReceiver> make_gathering(ReceiveParts parts) {
  return std::make_unique<GatheringReceiver>(parts, gather);
}

template <class Receiver>
std::unique_ptr<ModelReceiver> make_streaming(ReceiveParts parts) {
  return std::make_unique<Receiver>(parts.framing);
}

constexpr Choice<MakeModelReceiver> kReceiveChoices[] = {
    {"concatenate", make_gathering<concatenate>},
    {"bytearray", make_gathering<grow_bytearray>},
    {"chunk_list", make_gathering<list_then_stream>},
    {"new_tensors", make_streaming<NewTensorsReceiver>},
    {"into_tensors", make_streaming<StreamingReceiver>}};

}  // namespace

std::unique_ptr<ModelReceiver> make_receiver(const std::string& value, ReceiveParts parts) {
  return choose("receive", kReceiveChoices, value)(parts);
}

}  // namespace memduel
