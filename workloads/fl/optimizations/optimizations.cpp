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

/// What an arm chose for one switch, and what the choice may depend on.
struct Setting {
  const char* name;
  const nlohmann::json& value;
  const nlohmann::json& all;  ///< every switch's value
  std::size_t max_message_bytes;
  const at::Device& device;

  [[nodiscard]] std::string text() const {
    if (value.is_string()) return value.get<std::string>();
    throw Error(ExitCode::usage, fmt::format("found {}, expected one of its values", value.dump()),
                fmt::format("switches.{}", name));
  }
  [[nodiscard]] int rounds() const { return choose_whole_number(name, value, 0, kMostRounds); }
};

struct Switch {
  const char* name;
  void (*choose)(Optimizations& chosen, const Setting& setting);
};

/// In this order: receiving needs to know how pieces are framed and how tensors are made of them.
const std::vector<Switch>& switches() {
  using Chosen = Optimizations;
  static const std::vector<Switch> table = {
      {"state_snapshot",
       [](Chosen& c, const Setting& s) { c.state_snapshot = make_state_snapshot(s.text()); }},
      {"upload_state",
       [](Chosen& c, const Setting& s) { c.upload_state = make_upload_state(s.text()); }},
      {"pseudo_gradient",
       [](Chosen& c, const Setting& s) { c.pseudo_gradient = make_pseudo_gradient(s.text()); }},
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
      {"request_lifetime",
       [](Chosen& c, const Setting& s) { c.request_lifetime = choose_request_lifetime(s.text()); }},
      {"local_models",
       [](Chosen& c, const Setting& s) { c.local_models = choose_local_models(s.text()); }},
      {"previous_state",
       [](Chosen& c, const Setting& s) { c.previous_state = choose_previous_state(s.text()); }},
      {"client_locals",
       [](Chosen& c, const Setting& s) { c.client_locals = choose_client_locals(s.text()); }},
      {"optimizer_state",
       [](Chosen& c, const Setting& s) { c.optimizer_state = choose_optimizer_state(s.text()); }},
      {"flow_control",
       [](Chosen& c, const Setting& s) { c.flow_control = choose_flow_control(s.text()); }},
      {"cleanup", [](Chosen& c, const Setting& s) { c.cleanup = choose_cleanup(s.text()); }},
      {"arenas",
       [](Chosen& c, const Setting& s) { c.arenas = choose_arenas(s.name, "default", s.value); }},
      {"client_arenas",
       [](Chosen& c, const Setting& s) {
         c.client_arenas = choose_arenas(s.name, "as_server", s.value);
       }},
      {"server_gc_rounds", [](Chosen& c, const Setting& s) { c.server_gc_rounds = s.rounds(); }},
      {"client_gc_rounds", [](Chosen& c, const Setting& s) { c.client_gc_rounds = s.rounds(); }},
      {"cuda_empty_cache",
       [](Chosen& c, const Setting& s) { c.cuda_cache = choose_cuda_cache(s.text()); }},
      {"cyclic_garbage", [](Chosen& c, const Setting& s) { c.garbage = make_garbage(s.text()); }},
      {"tensor_offload",
       [](Chosen& c, const Setting& s) { c.tensor_offload = choose_tensor_offload(s.text()); }},
  };
  return table;
}

}  // namespace

Optimizations make_optimizations(const nlohmann::json& values, std::size_t max_message_bytes,
                                 const at::Device& device) {
  JsonFields fields(values, "worker configuration", "switches");
  Optimizations chosen;
  for (const Switch& one : switches()) {
    const auto value = fields.get<nlohmann::json>(one.name);
    one.choose(chosen, {one.name, value, values, max_message_bytes, device});
  }
  fields.expect_no_more();
  expect_compressible(values);
  expect_offloadable(chosen.tensor_offload, chosen.aggregate);
  return chosen;
}

}  // namespace memduel
