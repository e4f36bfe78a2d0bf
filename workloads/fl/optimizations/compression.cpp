#include "compression.h"

#include <optional>

#include "fl/worker_config.h"
#include "transport/compressed_codec.h"

namespace memduel {
namespace {

enum class Compression { none, blosc, zfp };

constexpr Choice<Compression> kCompressionChoices[] = {
    {"none", Compression::none}, {"blosc", Compression::blosc}, {"zfp", Compression::zfp}};

Bytes compress(const State& state, Compression compression) {
  const StateTable table = table_of(state);
  std::vector<Bytes> objects;
  objects.reserve(state.size());
  const std::string head = encode_compressed_head(table);
  std::size_t total = head.size();
  for (std::size_t i = 0; i < state.size(); ++i) {
    const TensorRecord& record = table.tensors[i];
    const at::Tensor tensor = on_cpu(state[i].tensor);
    const std::string_view data = bytes_of(tensor);
    objects.push_back(compress_tensor(
        record, data,
        compression == Compression::zfp ? lossy_tolerance(record, data) : std::nullopt));
    total += objects.back().size();
  }
  Bytes bytes;
  bytes.reserve(total);
  bytes.append(head);
  for (const Bytes& object : objects) bytes.append(object.view());
  return bytes;
}

class Compressor final : public Serializer {
 public:
  Compressor(Compression compression, CopyLifetime lifetime)
      : compression_(compression), lifetime_(lifetime) {}

  [[nodiscard]] Outgoing prepare(const State& state, const Header& header, const Framing& framing,
                                 CallFrame& frame) const override {
    const auto compressed = share(compress(state, compression_));
    if (lifetime_ == CopyLifetime::kept) frame.keep(compressed);
    return framing.wrap(header, compressed, lifetime_, frame);
  }

 private:
  Compression compression_;
  CopyLifetime lifetime_;
};

class Decompressor final : public Deserializer {
 public:
  explicit Decompressor(bool copies) : copies_(copies) {}

  [[nodiscard]] State load(SharedBytes bytes, const std::string& from) const override {
    const CompressedState compressed = decode_compressed(bytes->view(), from);
    State expanded = allocate_state(compressed.table);
    for (std::size_t i = 0; i < expanded.size(); ++i)
      expand_tensor(compressed.table.tensors[i], compressed.pieces[i],
                    mutable_bytes_of(expanded[i].tensor), from);
    if (!copies_) return expanded;
    State state;
    state.reserve(expanded.size());
    for (const NamedTensor& entry : expanded) state.push_back({entry.name, entry.tensor.clone()});
    return state;
  }

 private:
  bool copies_;
};

/// Of what this worker was built with.
Compression choose_compression(const std::string& value) {
  const Compression chosen = choose("compression", kCompressionChoices, value);
  if (chosen != Compression::none && !has_compressors())
    throw Error(ExitCode::usage,
                fmt::format("found \"{}\", but this worker was built without blosc and zfp", value),
                "switches.compression", "\"none\" needs neither");
  return chosen;
}

}  // namespace

std::unique_ptr<Serializer> make_upload_serializer(const std::string& compression,
                                                   const std::string& serialize) {
  const Compression chosen = choose_compression(compression);
  if (chosen == Compression::none) return make_serializer(serialize);
  return std::make_unique<Compressor>(
      chosen, serialize == "buffered_copies" ? CopyLifetime::kept : CopyLifetime::scoped);
}

std::unique_ptr<Deserializer> make_upload_deserializer(const std::string& compression,
                                                       const std::string& deserialize) {
  if (choose_compression(compression) == Compression::none) return make_deserializer(deserialize);
  return std::make_unique<Decompressor>(deserialize != "in_place_views");
}

void expect_compressible(const nlohmann::json& values) {
  const nlohmann::json compression = values.at("compression");
  if (compression == "none") return;
  const auto refuse = [&](const std::string& name) {
    throw Error(ExitCode::usage,
                fmt::format("found compression {} together with {} {}", compression.dump(), name,
                            values.at(name).dump()),
                "switches." + name,
                "a compressed state is one object: it has no tensor data to send, place or fold "
                "piece by piece");
  };
  if (values.at("serialize") == "streamed_from_tensors") refuse("serialize");
  const nlohmann::json receive = values.at("receive");
  if (receive == "into_tensors" || receive == "new_tensors") refuse("receive");
  if (values.at("aggregate") == "streaming_fold") refuse("aggregate");
  if (values.value("model_chunking", nlohmann::json("off")) != "off") refuse("model_chunking");
  if (values.value("tensor_offload", "none") != "none") refuse("tensor_offload");
}

}  // namespace memduel
