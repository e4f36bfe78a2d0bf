#include "workloads/optimizations/serialize.h"

#include "workloads/optimizations/choice.h"

namespace memduel {
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

std::unique_ptr<Serializer> make_serializer(const std::string& value) {
  return choose("serialize", kSerializeChoices, value)();
}

}  // namespace memduel
