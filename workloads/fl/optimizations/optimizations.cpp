#include "optimizations.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fl/transport.h"
#include "fl/worker_config.h"
#include "staging.h"

namespace memduel {
namespace {

constexpr const char* kWholeMessage = "0.9_of_max_message";
constexpr std::int64_t kLeastPiece = 4096;

std::size_t piece_bytes(const nlohmann::json& value, std::size_t max_message_bytes) {
  if (value == kWholeMessage)
    return static_cast<std::size_t>(0.9 * static_cast<double>(max_message_bytes));
  const auto most = static_cast<std::int64_t>(max_message_bytes) - kPieceOverheadBytes;
  if (!value.is_number_integer() || value.get<std::int64_t>() < kLeastPiece ||
      value.get<std::int64_t>() > most)
    throw Error(ExitCode::usage,
                fmt::format("expected \"{}\" or a whole number from {} to {}, found {}",
                            kWholeMessage, kLeastPiece, most, value.dump()),
                "switches.piece_bytes", "it is bounded by transport.max_message_bytes");
  return value.get<std::size_t>();
}

std::vector<std::string> all_aggregate_values() {
  std::vector<std::string> values = aggregate_values();
  for (const char* value : {kCollectAll, kInTime, kStreamingFold}) values.emplace_back(value);
  return values;
}

/// Strategies that need the model are made later; their names are checked now.
std::string expect_value(const char* name, const std::string& value,
                         const std::vector<std::string>& values) {
  if (std::ranges::find(values, value) == values.end())
    throw Error(ExitCode::usage,
                fmt::format("expected {}, found \"{}\"", fmt::join(values, ", "), value),
                fmt::format("switches.{}", name));
  return value;
}

}  // namespace

Optimizations make_optimizations(const nlohmann::json& values, std::size_t max_message_bytes,
                                 const at::Device& device) {
  SwitchFields fields(values);
  const auto word = [&](const char* name) { return fields.get<std::string>(name); };
  Optimizations chosen;
  choose_lifetimes(chosen, fields);
  chosen.framing = make_framing(word("framing"));
  const std::string serialize = word("serialize");
  const std::string deserialize = word("deserialize");
  const std::string compression = word("compression");
  chosen.serializer = make_serializer(serialize);
  chosen.deserializer = make_deserializer(deserialize, device);
  chosen.upload_serializer = make_upload_serializer(compression, serialize);
  chosen.upload_deserializer = make_upload_deserializer(compression, deserialize);
  // Receiving needs to know how pieces are framed and how tensors are made of them.
  const std::string receive = word("receive");
  chosen.receiver = make_receiver(receive, {*chosen.framing, *chosen.deserializer});
  chosen.upload_receiver = make_receiver(receive, {*chosen.framing, *chosen.upload_deserializer});
  chosen.receives_into_tensors = receive == "into_tensors";
  chosen.receives_in_turn = receive == "inflated_chunks";
  chosen.responder = make_responder(word("response"), {*chosen.framing, *chosen.serializer});
  chosen.make_predictions = choose_predictions(word("predictions"));
  chosen.aggregate = expect_value("aggregate", word("aggregate"), all_aggregate_values());
  chosen.staging = expect_value("staging", word("staging"), staging_values());
  chosen.piece_bytes = piece_bytes(fields.get<nlohmann::json>("piece_bytes"), max_message_bytes);
  chosen.chunk_bytes = choose_chunk_bytes(fields.get<nlohmann::json>("model_chunking"));
  chosen.tensor_offload = choose_tensor_offload(word("tensor_offload"));
  fields.expect_no_more();
  expect_compressible(values);
  expect_offloadable(chosen.tensor_offload, chosen.aggregate);
  return chosen;
}

}  // namespace memduel
