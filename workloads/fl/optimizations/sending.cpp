#include "workloads/optimizations/framing.h"

#include <fmt/format.h>

#include "base/error.h"
#include "workloads/optimizations/choice.h"

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
  /// frame keeps what it received and the message, the server's the message and the bytes.
  [[nodiscard]] GatheredModel gather(Call& call, const GatherPieces& pieces,
                                     CallFrame& frame) const override {
    SharedBytes received = pieces(call, frame);
    const DecodedMessage decoded = decode_message(received->view(), call.peer());
    const SharedBytes message = share(
        Bytes::copy_of(received->view().substr(decoded.payload_offset, decoded.payload_size)));
    if (frame.side() == Side::client) frame.keep(received);
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
constexpr Choice<MakeFraming> kFramingChoices[] = {
    {"embedded_in_message",
     [] { return std::unique_ptr<Framing>(std::make_unique<EmbeddedInMessage>()); }},
    {"metadata_then_raw",
     [] { return std::unique_ptr<Framing>(std::make_unique<MetadataThenRaw>()); }}};

}  // namespace

std::unique_ptr<Framing> make_framing(const std::string& value) {
  return choose("framing", kFramingChoices, value)();
}

}  // namespace memduel
