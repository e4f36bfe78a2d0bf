#include "receiving.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "aggregation.h"
#include "fl/worker_config.h"
#include "util/file.h"

namespace memduel {
namespace {

std::string first_cut_off(const StateTable& table, std::size_t size) {
  for (const TensorRecord& record : table.tensors)
    if (record.offset + record.bytes > size) return "; the first that is cut off is " + record.name;
  return {};
}

StateTable read_table(std::string_view bytes, const std::string& from) {
  StateTable table = decode_table(bytes, from);
  if (table.total_bytes != bytes.size())
    throw Error(ExitCode::cannot_measure,
                fmt::format("malformed model state: expected {} bytes, found {}{}",
                            table.total_bytes, bytes.size(), first_cut_off(table, bytes.size())),
                from);
  return table;
}

State copy_out(std::string_view bytes, const std::string& from, const at::Device& device) {
  const StateTable table = read_table(bytes, from);
  State state = allocate_state(table, device);
  for (std::size_t i = 0; i < state.size(); ++i) {
    const TensorRecord& record = table.tensors[i];
    fill_tensor(state[i].tensor,
                [&](char* to) { std::memcpy(to, bytes.data() + record.offset, record.bytes); });
  }
  return state;
}

class SourceDevice final : public Deserializer {
 public:
  explicit SourceDevice(const at::Device& device) : device_(device) {}

  [[nodiscard]] State load(SharedBytes bytes, const std::string& from) const override {
    return copy_out(bytes->view(), from, device_);
  }

 private:
  at::Device device_;
};

/// The caller's last reference goes before the state is handed on.
class CpuFirst final : public Deserializer {
 public:
  [[nodiscard]] State load(SharedBytes bytes, const std::string& from) const override {
    State state = copy_out(bytes->view(), from, at::kCPU);
    bytes.reset();
    return state;
  }
};

class InPlaceViews final : public Deserializer {
 public:
  [[nodiscard]] State load(SharedBytes bytes, const std::string& from) const override {
    const StateTable table = read_table(bytes->view(), from);
    State state;
    state.reserve(table.tensors.size());
    for (const TensorRecord& record : table.tensors)
      state.push_back({record.name, torch::from_blob(
                                        bytes->data() + record.offset, record.shape,
                                        [bytes](void*) {}, torch_dtype(record.dtype))});
    return state;
  }
};

using MakeDeserializer = std::unique_ptr<Deserializer> (*)(const at::Device&);
constexpr Choice<MakeDeserializer> kDeserializeChoices[] = {
    {"source_device",
     [](const at::Device& device) {
       return std::unique_ptr<Deserializer>(std::make_unique<SourceDevice>(device));
     }},
    {"cpu_first",
     [](const at::Device&) { return std::unique_ptr<Deserializer>(std::make_unique<CpuFirst>()); }},
    {"in_place_views", [](const at::Device&) {
       return std::unique_ptr<Deserializer>(std::make_unique<InPlaceViews>());
     }}};

}  // namespace

std::unique_ptr<Deserializer> make_deserializer(const std::string& value,
                                                const at::Device& device) {
  return choose("deserialize", kDeserializeChoices, value)(device);
}

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

/// Flower's pull_messages, ArrayChunk.inflate and Array.inflate. Each chunk is copied out of what
/// was pulled, which is freed. A response of its HTTP client is in a reference cycle and outlives
/// all of it: the frame keeps it. A bytearray that grows by more than an eighth grows to its exact
/// size.
SharedBytes inflate_chunks(Call& call, CallFrame& frame) {
  const auto responses = std::make_shared<std::vector<std::string>>();
  std::vector<std::string> pulled;
  while (std::optional<CopiedPiece> piece = read_piece_copied(call)) {
    responses->push_back(std::move(piece->message));
    pulled.push_back(std::move(piece->data));
  }
  frame.keep(responses);
  std::vector<std::string> chunks;
  for (std::string& one : pulled) {
    const std::string content = std::move(one);
    chunks.push_back(content);
  }
  Bytes joined;
  for (const std::string& chunk : chunks) {
    if (chunk.size() > joined.size() / 8) joined.reserve(joined.size() + chunk.size());
    joined.append(chunk);
  }
  return share(Bytes::copy_of(joined.view()));
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
    {"inflated_chunks", make_gathering<inflate_chunks>},
    {"new_tensors", make_streaming<NewTensorsReceiver>},
    {"into_tensors", make_streaming<StreamingReceiver>}};

}  // namespace

std::unique_ptr<ModelReceiver> make_receiver(const std::string& value, ReceiveParts parts) {
  return choose("receive", kReceiveChoices, value)(parts);
}

namespace {

constexpr Choice<TensorOffload> kTensorOffload[] = {{"none", TensorOffload::none},
                                                    {"disk", TensorOffload::disk}};

/// Larger ones are streamed and offloaded, as NVFlare does with arrays.
constexpr std::size_t kInlineBytes = std::size_t{2} << 20;
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

class TensorFile {
 public:
  explicit TensorFile(const std::filesystem::path& directory)
      : directory_(directory.string()), file_(unnamed_file(directory)) {
    if (!file_) refuse(errno);
  }

  void append(std::string_view bytes) const {
    if (!write_all(file_.get(), bytes)) refuse(errno);
  }

  /// Read-only, and alive with the tensor.
  [[nodiscard]] at::Tensor map(const TensorRecord& record) const {
    const std::size_t bytes = record.bytes;
    void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file_.get(), 0);
    if (data == MAP_FAILED) refuse(errno);
    return torch::from_blob(
        data, record.shape, [bytes](void* mapped) { ::munmap(mapped, bytes); },
        torch_dtype(record.dtype));
  }

 private:
  [[noreturn]] void refuse(int error) const {
    throw Error(ExitCode::io,
                fmt::format("an offloaded tensor's file failed: {}", std::strerror(error)),
                directory_, "tensor_offload=none needs no disk");
  }

  std::string directory_;
  Descriptor file_;
};

class OffloadingReceiver final : public ModelReceiver {
 public:
  OffloadingReceiver(const Framing& framing, std::filesystem::path directory)
      : framing_(framing), directory_(std::move(directory)) {}

  [[nodiscard]] IncomingModel receive(Call& call, CallFrame& /*frame*/,
                                      const State* /*into*/) const override {
    const std::unique_ptr<ModelStream> stream = framing_.open(call);
    State state;
    for (const TensorRecord& record : stream->read_table().tensors)
      state.push_back({record.name, record.bytes > kInlineBytes ? offload(*stream, record)
                                                                : read_inline(*stream, record)});
    stream->expect_end();
    return {stream->header(), std::move(state)};
  }

 private:
  [[nodiscard]] at::Tensor offload(ModelStream& stream, const TensorRecord& record) const {
    const TensorFile file(directory_);
    std::string buffer(kBufferBytes, '\0');
    for (std::size_t left = record.bytes; left > 0;) {
      const std::size_t some = std::min(left, buffer.size());
      stream.read_data(buffer.data(), some);
      file.append(std::string_view(buffer).substr(0, some));
      left -= some;
    }
    return file.map(record);
  }

  static at::Tensor read_inline(ModelStream& stream, const TensorRecord& record) {
    const at::Tensor tensor = torch::empty(record.shape, torch_dtype(record.dtype));
    stream.read_data(mutable_bytes_of(tensor), record.bytes);
    return tensor;
  }

  const Framing& framing_;
  std::filesystem::path directory_;
};

}  // namespace

TensorOffload choose_tensor_offload(const std::string& value) {
  return choose("tensor_offload", kTensorOffload, value);
}

void expect_offloadable(TensorOffload offload, const std::string& aggregate) {
  if (offload == TensorOffload::none || aggregate == kCollectAll || aggregate == kInTime) return;
  throw Error(ExitCode::usage,
              fmt::format("expected aggregate {} or {} with disk, found \"{}\"", kCollectAll,
                          kInTime, aggregate),
              "switches.tensor_offload", "the others read all uploads at once");
}

std::unique_ptr<ModelReceiver> make_offloading_receiver(const Framing& framing,
                                                        std::filesystem::path directory) {
  return std::make_unique<OffloadingReceiver>(framing, std::move(directory));
}

}  // namespace memduel
