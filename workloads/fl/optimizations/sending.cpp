#include "sending.h"

#include <fmt/format.h>

#include <atomic>

#include "fl/worker_config.h"
#include "util/error.h"

namespace memduel {
namespace {

std::size_t total_size(const std::vector<Segment>& segments) {
  std::size_t total = 0;
  for (const Segment& segment : segments) total += segment.bytes.size();
  return total;
}

Segment whole(const SharedBytes& bytes) {
  return {bytes->view(), bytes};
}

/// Everything is one protobuf message, cut into pieces.
class EmbeddedInMessage final : public Framing {
 public:
  /// @param received how long a client keeps the bytes that it parsed.
  explicit EmbeddedInMessage(CopyLifetime received) : received_(received) {}

  /// Assigning the field copies the model, SerializeToString copies the message.
  [[nodiscard]] Outgoing wrap(const Header& header, SharedBytes model, CopyLifetime lifetime,
                              CallFrame& frame) const override {
    SharedBytes field = share(Bytes::copy_of(model->view()));
    model.reset();
    if (lifetime == CopyLifetime::kept) frame.keep(field);
    const std::string prefix = encode_prefix(header, field->size());
    Bytes serialized;
    serialized.reserve(prefix.size() + field->size());
    serialized.append(prefix);
    serialized.append(field->view());
    return {{}, {whole(share(std::move(serialized)))}, false};
  }

  [[nodiscard]] Outgoing wrap_borrowed(const Header& header,
                                       std::vector<Segment> model) const override {
    const auto prefix =
        std::make_shared<const std::string>(encode_prefix(header, total_size(model)));
    model.insert(model.begin(), {*prefix, prefix});
    return {{}, std::move(model), true};
  }

  /// Parsing copies the field into the message, reading the field makes new bytes. The client's
  /// frame keeps the message and may keep what it received, the server's the message and the bytes.
  [[nodiscard]] GatheredModel gather(Call& call, const GatherPieces& pieces,
                                     CallFrame& frame) const override {
    SharedBytes received = pieces(call, frame);
    const DecodedMessage decoded = decode_message(received->view(), call.peer());
    const SharedBytes message = share(
        Bytes::copy_of(received->view().substr(decoded.payload_offset, decoded.payload_size)));
    if (frame.side() == Side::client && received_ == CopyLifetime::kept) frame.keep(received);
    received.reset();
    frame.keep(message);
    SharedBytes model = share(Bytes::copy_of(message->view()));
    if (frame.side() == Side::server) frame.keep(model);
    return {decoded.header, std::move(model)};
  }

  [[nodiscard]] std::unique_ptr<ModelStream> open(Call& call) const override {
    PieceReader reader(call);
    std::string head;
    std::optional<DecodedMessage> decoded;
    while (!(decoded = decode_prefix(head, call.peer()))) {
      const std::string_view more = reader.read_some(kPrefixStep);
      if (more.empty())
        throw Error(ExitCode::cannot_measure, "the stream ended before the model began",
                    call.peer());
      head.append(more);
    }
    return std::make_unique<ModelStream>(std::move(reader), std::move(decoded->header),
                                         head.substr(decoded->payload_offset));
  }

 private:
  static constexpr std::size_t kPrefixStep = 4096;
  CopyLifetime received_;
};

/// The first piece is a message without a model, everything after it is the model.
class MetadataThenRaw final : public Framing {
 public:
  [[nodiscard]] Outgoing wrap(const Header& header, SharedBytes model, CopyLifetime /*lifetime*/,
                              CallFrame& /*frame*/) const override {
    return {encode_message(header, {}), {whole(model)}, false};
  }

  [[nodiscard]] Outgoing wrap_borrowed(const Header& header,
                                       std::vector<Segment> model) const override {
    return {encode_message(header, {}), std::move(model), true};
  }

  /// The server's handler still names the model's bytes in a second local variable.
  [[nodiscard]] GatheredModel gather(Call& call, const GatherPieces& pieces,
                                     CallFrame& frame) const override {
    const std::optional<CopiedPiece> first = read_piece_copied(call);
    if (!first)
      throw Error(ExitCode::cannot_measure, "the stream ended before its metadata", call.peer());
    const DecodedMessage decoded = decode_message(first->data, call.peer());
    SharedBytes model = pieces(call, frame);
    if (frame.side() == Side::server) frame.keep(model);
    return {decoded.header, std::move(model)};
  }

  [[nodiscard]] std::unique_ptr<ModelStream> open(Call& call) const override {
    PieceReader reader(call);
    const std::string first = reader.read_rest_of_message();
    const DecodedMessage decoded = decode_message(first, call.peer());
    return std::make_unique<ModelStream>(std::move(reader), decoded.header, "");
  }
};

using MakeFraming = std::unique_ptr<Framing> (*)();
template <CopyLifetime received>
std::unique_ptr<Framing> make_embedded() {
  return std::make_unique<EmbeddedInMessage>(received);
}

constexpr Choice<MakeFraming> kFramingChoices[] = {
    {"embedded_in_message", make_embedded<CopyLifetime::kept>},
    {"embedded_then_freed", make_embedded<CopyLifetime::scoped>},
    {"metadata_then_raw",
     [] { return std::unique_ptr<Framing>(std::make_unique<MetadataThenRaw>()); }}};

}  // namespace

std::unique_ptr<Framing> make_framing(const std::string& value) {
  return choose("framing", kFramingChoices, value)();
}

namespace {

void append_state(const State& state, const StateTable& table, Bytes& bytes) {
  bytes.append(encode_table(table));
  for (std::size_t i = 0; i < state.size(); ++i) {
    static constexpr char kZeros[kTableAlignment] = {};
    bytes.append({kZeros, table.tensors[i].offset - bytes.size()});
    bytes.append(bytes_of(on_cpu(state[i].tensor)));
  }
}

class BufferedCopies final : public Serializer {
 public:
  [[nodiscard]] Outgoing prepare(const State& state, const Header& header, const Framing& framing,
                                 CallFrame& frame) const override {
    Bytes growing;
    append_state(state, table_of(state), growing);
    const auto serialized = share(std::move(growing));
    frame.keep(serialized);
    return framing.wrap(header, serialized, CopyLifetime::kept, frame);
  }
};

class ScopedBuffer final : public Serializer {
 public:
  [[nodiscard]] Outgoing prepare(const State& state, const Header& header, const Framing& framing,
                                 CallFrame& frame) const override {
    return framing.wrap(header, encode_state(state), CopyLifetime::scoped, frame);
  }
};

class StreamedFromTensors final : public Serializer {
 public:
  [[nodiscard]] Outgoing prepare(const State& state, const Header& header, const Framing& framing,
                                 CallFrame& /*frame*/) const override {
    return framing.wrap_borrowed(header, borrow_state(state));
  }
};

using MakeSerializer = std::unique_ptr<Serializer> (*)();
constexpr Choice<MakeSerializer> kSerializeChoices[] = {
    {"buffered_copies",
     [] { return std::unique_ptr<Serializer>(std::make_unique<BufferedCopies>()); }},
    {"scoped_buffer", [] { return std::unique_ptr<Serializer>(std::make_unique<ScopedBuffer>()); }},
    {"streamed_from_tensors",
     [] { return std::unique_ptr<Serializer>(std::make_unique<StreamedFromTensors>()); }}};

}  // namespace

SharedBytes encode_state(const State& state) {
  const StateTable table = table_of(state);
  Bytes bytes;
  bytes.reserve(table.total_bytes);
  append_state(state, table, bytes);
  return share(std::move(bytes));
}

std::vector<Segment> borrow_state(const State& state) {
  static constexpr char kZeros[kTableAlignment] = {};
  const StateTable table = table_of(state);
  const auto encoded = std::make_shared<const std::string>(encode_table(table));
  std::vector<Segment> segments{{*encoded, encoded}};
  std::size_t position = table.table_bytes;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const TensorRecord& record = table.tensors[i];
    if (position < record.offset) segments.push_back({{kZeros, record.offset - position}, nullptr});
    const auto owner = std::make_shared<const at::Tensor>(on_cpu(state[i].tensor));
    segments.push_back({bytes_of(*owner), owner});
    position = record.offset + record.bytes;
  }
  return segments;
}

void hold_serialized(Garbage& garbage, const Outgoing& outgoing) {
  if (outgoing.borrowed) return;  // the tensors themselves
  for (const Segment& segment : outgoing.body) garbage.hold(Cycle::serialized, segment.owner);
}

std::unique_ptr<Serializer> make_serializer(const std::string& value) {
  return choose("serialize", kSerializeChoices, value)();
}

namespace {

class PerClient final : public PreparedResponse {
 public:
  PerClient(State state, int /*receivers*/, ResponseParts parts)
      : state_(std::move(state)), parts_(parts) {}
  [[nodiscard]] Outgoing outgoing(const Header& header, CallFrame& frame) const override {
    return parts_.serializer.prepare(state_, header, parts_.framing, frame);
  }

 private:
  State state_;
  ResponseParts parts_;
};

/// The last handler that has made its copies frees the state.
class PerClientThenDropped final : public PreparedResponse {
 public:
  PerClientThenDropped(State state, int receivers, ResponseParts parts)
      : state_(std::move(state)), waiting_(receivers), parts_(parts) {}
  [[nodiscard]] Outgoing outgoing(const Header& header, CallFrame& frame) const override {
    Outgoing outgoing = parts_.serializer.prepare(state_, header, parts_.framing, frame);
    if (--waiting_ == 0) state_.clear();
    return outgoing;
  }

 private:
  mutable State state_;
  mutable std::atomic<int> waiting_;  ///< handlers that have no copies yet
  ResponseParts parts_;
};

class Shared final : public PreparedResponse {
 public:
  Shared(const State& state, int /*receivers*/, ResponseParts parts)
      : encoded_(encode_state(state)), parts_(parts) {}
  [[nodiscard]] Outgoing outgoing(const Header& header, CallFrame& frame) const override {
    return parts_.framing.wrap(header, encoded_, CopyLifetime::scoped, frame);
  }

 private:
  SharedBytes encoded_;
  ResponseParts parts_;
};

class Streamed final : public PreparedResponse {
 public:
  Streamed(State state, int /*receivers*/, ResponseParts parts)
      : state_(std::move(state)), parts_(parts) {}
  [[nodiscard]] Outgoing outgoing(const Header& header, CallFrame& /*frame*/) const override {
    return parts_.framing.wrap_borrowed(header, borrow_state(state_));
  }

 private:
  State state_;
  ResponseParts parts_;
};

template <class Prepared>
class ResponderOf final : public Responder {
 public:
  explicit ResponderOf(ResponseParts parts) : parts_(parts) {}
  [[nodiscard]] std::shared_ptr<const PreparedResponse> prepare(State state,
                                                                int receivers) const override {
    return std::make_shared<Prepared>(std::move(state), receivers, parts_);
  }

 private:
  ResponseParts parts_;
};

using MakeResponder = std::unique_ptr<Responder> (*)(ResponseParts);

template <class Prepared>
std::unique_ptr<Responder> make(ResponseParts parts) {
  return std::make_unique<ResponderOf<Prepared>>(parts);
}

constexpr Choice<MakeResponder> kResponseChoices[] = {
    {"serialized_per_client", make<PerClient>},
    {"serialized_then_dropped", make<PerClientThenDropped>},
    {"shared_buffer", make<Shared>},
    {"streamed_from_tensors", make<Streamed>}};

}  // namespace

std::unique_ptr<Responder> make_responder(const std::string& value, ResponseParts parts) {
  return choose("response", kResponseChoices, value)(parts);
}

}  // namespace memduel
