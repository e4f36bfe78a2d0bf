#include "workloads/optimizations/optimizations.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "workloads/federated/json_fields.h"
#include "workloads/optimizations/choice.h"
#include "workloads/optimizations/staging.h"
#include "workloads/optimizations/whole_number.h"

namespace memduel {
namespace {

constexpr const char* kWholeMessage = "0.9_of_max_message";
constexpr std::int64_t kLeastPiece = 4096;
// A DataBuffer's tag and length.
constexpr std::size_t kPieceOverhead = 16;

std::size_t piece_bytes(const nlohmann::json& value, std::size_t max_message_bytes) {
  if (value == kWholeMessage)
    return static_cast<std::size_t>(0.9 * static_cast<double>(max_message_bytes));
  const auto most = static_cast<std::int64_t>(max_message_bytes - kPieceOverhead);
  if (!value.is_number_integer() || value.get<std::int64_t>() < kLeastPiece ||
      value.get<std::int64_t>() > most)
    throw Error(ExitCode::usage,
                fmt::format("found {}, expected \"{}\" or a whole number from {} to {}",
                            value.dump(), kWholeMessage, kLeastPiece, most),
                "optimizations.piece_bytes", "it is bounded by transport.max_message_bytes");
  return value.get<std::size_t>();
}

std::vector<std::string> all_aggregate_values() {
  std::vector<std::string> values = aggregate_values();
  for (const char* value : {kCollectAll, kInTime, kStreamingFold}) values.emplace_back(value);
  return values;
}

int gc_rounds(JsonFields& fields, const char* name) {
  return choose_whole_number(name, fields.get<nlohmann::json>(name), 0, kMostRounds);
}

/// Strategies that need the model are made later; their names are checked now.
std::string expect_value(const char* name, const std::string& value,
                         const std::vector<std::string>& values) {
  if (std::ranges::find(values, value) == values.end())
    throw Error(ExitCode::usage,
                fmt::format("found \"{}\", expected {}", value, fmt::join(values, ", ")),
                fmt::format("optimizations.{}", name));
  return value;
}

}  // namespace

Optimizations make_optimizations(const nlohmann::json& values, std::size_t max_message_bytes,
                                 const at::Device& device) {
  JsonFields fields(values, "worker configuration", "optimizations");
  const auto value = [&](const char* name) { return fields.get<std::string>(name); };
  Optimizations chosen;
  chosen.state_snapshot = make_state_snapshot(value("state_snapshot"));
  chosen.upload_state = make_upload_state(value("upload_state"));
  chosen.pseudo_gradient = make_pseudo_gradient(value("pseudo_gradient"));
  chosen.framing = make_framing(value("framing"));
  chosen.serializer = make_serializer(value("serialize"));
  chosen.deserializer = make_deserializer(value("deserialize"), device);
  chosen.receiver = make_receiver(value("receive"), {*chosen.framing, *chosen.deserializer});
  chosen.upload_serializer = make_upload_serializer(value("compression"), value("serialize"));
  chosen.upload_deserializer = make_upload_deserializer(value("compression"), value("deserialize"));
  chosen.upload_receiver =
      make_receiver(value("receive"), {*chosen.framing, *chosen.upload_deserializer});
  chosen.receives_into_tensors = value("receive") == "into_tensors";
  chosen.responder = make_responder(value("response"), {*chosen.framing, *chosen.serializer});
  chosen.make_predictions = choose_predictions(value("predictions"));
  chosen.aggregate = expect_value("aggregate", value("aggregate"), all_aggregate_values());
  chosen.staging = expect_value("staging", value("staging"), staging_values());
  chosen.piece_bytes = piece_bytes(fields.get<nlohmann::json>("piece_bytes"), max_message_bytes);
  chosen.chunk_bytes = choose_chunk_bytes(fields.get<nlohmann::json>("model_chunking"));
  chosen.request_lifetime = choose_request_lifetime(value("request_lifetime"));
  chosen.local_models = choose_local_models(value("local_models"));
  chosen.previous_state = choose_previous_state(value("previous_state"));
  chosen.client_locals = choose_client_locals(value("client_locals"));
  chosen.optimizer_state = choose_optimizer_state(value("optimizer_state"));
  chosen.flow_control = choose_flow_control(value("flow_control"));
  chosen.cleanup = choose_cleanup(value("cleanup"));
  chosen.arenas = choose_arenas("arenas", "default", fields.get<nlohmann::json>("arenas"));
  chosen.client_arenas =
      choose_arenas("client_arenas", "as_server", fields.get<nlohmann::json>("client_arenas"));
  chosen.server_gc_rounds = gc_rounds(fields, "server_gc_rounds");
  chosen.client_gc_rounds = gc_rounds(fields, "client_gc_rounds");
  chosen.cuda_cache = choose_cuda_cache(value("cuda_empty_cache"));
  chosen.garbage = make_garbage(value("cyclic_garbage"));
  chosen.tensor_offload = choose_tensor_offload(value("tensor_offload"));
  fields.expect_no_more();
  expect_compressible(values);
  expect_offloadable(chosen.tensor_offload, chosen.aggregate);
  return chosen;
}

std::map<std::string, std::vector<std::string>> implemented_switches() {
  return {{"state_snapshot", state_snapshot_values()},
          {"upload_state", upload_state_values()},
          {"pseudo_gradient", pseudo_gradient_values()},
          {"framing", framing_values()},
          {"serialize", serialize_values()},
          {"deserialize", deserialize_values()},
          {"receive", receive_values()},
          {"response", response_values()},
          {"predictions", predictions_values()},
          {"aggregate", all_aggregate_values()},
          {"staging", staging_values()},
          {"piece_bytes", {kWholeMessage}},
          {"model_chunking", {"off"}},
          {"request_lifetime", request_lifetime_values()},
          {"local_models", local_models_values()},
          {"previous_state", previous_state_values()},
          {"client_locals", client_locals_values()},
          {"optimizer_state", optimizer_state_values()},
          {"compression", compression_values()},
          {"flow_control", flow_control_values()},
          {"cleanup", cleanup_values()},
          {"arenas", {"default"}},
          {"client_arenas", {"as_server"}},
          {"server_gc_rounds", {}},
          {"client_gc_rounds", {}},
          {"cuda_empty_cache", cuda_cache_values()},
          {"cyclic_garbage", garbage_values()},
          {"tensor_offload", tensor_offload_values()}};
}

}  // namespace memduel
