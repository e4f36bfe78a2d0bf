#include "optimizations.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fl/transport.h"
#include "staging.h"
#include "switch_table.h"

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
                fmt::format("found {}, expected \"{}\" or a whole number from {} to {}",
                            value.dump(), kWholeMessage, kLeastPiece, most),
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
                fmt::format("found \"{}\", expected {}", value, fmt::join(values, ", ")),
                fmt::format("switches.{}", name));
  return value;
}

/// In this order: receiving needs to know how pieces are framed and how tensors are made of them.
std::span<const Switch> switches() {
  using Chosen = Optimizations;
  static constexpr Switch kTable[] = {
      {"framing", [](Chosen& c, const Setting& s) { c.framing = make_framing(s.text()); }},
      {"serialize", [](Chosen& c, const Setting& s) { c.serializer = make_serializer(s.text()); }},
      {"deserialize",
       [](Chosen& c, const Setting& s) { c.deserializer = make_deserializer(s.text(), s.device); }},
      {"compression",
       [](Chosen& c, const Setting& s) {
         c.upload_serializer = make_upload_serializer(s.text(), s.all.at("serialize"));
         c.upload_deserializer = make_upload_deserializer(s.text(), s.all.at("deserialize"));
       }},
      {"receive",
       [](Chosen& c, const Setting& s) {
         c.receiver = make_receiver(s.text(), {*c.framing, *c.deserializer});
         c.upload_receiver = make_receiver(s.text(), {*c.framing, *c.upload_deserializer});
         c.receives_into_tensors = s.text() == "into_tensors";
       }},
      {"response",
       [](Chosen& c, const Setting& s) {
         c.responder = make_responder(s.text(), {*c.framing, *c.serializer});
       }},
      {"predictions",
       [](Chosen& c, const Setting& s) { c.make_predictions = choose_predictions(s.text()); }},
      {"aggregate",
       [](Chosen& c, const Setting& s) {
         c.aggregate = expect_value(s.name, s.text(), all_aggregate_values());
       }},
      {"staging",
       [](Chosen& c, const Setting& s) {
         c.staging = expect_value(s.name, s.text(), staging_values());
       }},
      {"piece_bytes",
       [](Chosen& c, const Setting& s) {
         c.piece_bytes = piece_bytes(s.value, s.max_message_bytes);
       }},
      {"model_chunking",
       [](Chosen& c, const Setting& s) { c.chunk_bytes = choose_chunk_bytes(s.value); }},
      {"tensor_offload",
       [](Chosen& c, const Setting& s) { c.tensor_offload = choose_tensor_offload(s.text()); }},
  };
  return kTable;
}

}  // namespace

Optimizations make_optimizations(const nlohmann::json& values, std::size_t max_message_bytes,
                                 const at::Device& device) {
  JsonFields fields(values, "worker configuration", "switches");
  Optimizations chosen;
  for (const std::span<const Switch> table : {lifetime_switches(), switches()})
    for (const Switch& one : table) {
      const auto value = fields.get<nlohmann::json>(one.name);
      one.choose(chosen, {one.name, value, values, max_message_bytes, device});
    }
  fields.expect_no_more();
  expect_compressible(values);
  expect_offloadable(chosen.tensor_offload, chosen.aggregate);
  return chosen;
}

}  // namespace memduel
