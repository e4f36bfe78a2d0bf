// Every switch of an arm, chosen once: the strategies that a role works with.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "aggregation.h"
#include "compression.h"
#include "fl/state_lifetimes.h"
#include "fl/training.h"
#include "model_chunking.h"
#include "receiving.h"
#include "sending.h"

namespace memduel {

struct Optimizations : StateLifetimes {
  std::unique_ptr<Framing> framing;
  std::unique_ptr<Serializer> serializer;
  std::unique_ptr<Deserializer> deserializer;
  std::unique_ptr<ModelReceiver> receiver;
  // What clients upload goes its own way: it may be compressed.
  std::unique_ptr<Serializer> upload_serializer;
  std::unique_ptr<Deserializer> upload_deserializer;
  std::unique_ptr<ModelReceiver> upload_receiver;
  std::unique_ptr<Responder> responder;
  MakePredictions make_predictions = nullptr;
  std::string aggregate;  ///< for make_rounds, once the model exists
  std::string staging;    ///< likewise
  std::size_t piece_bytes = 0;
  std::optional<std::size_t> chunk_bytes;  ///< absent: the model travels whole
  bool receives_into_tensors = false;
  bool receives_in_turn = false;  ///< the server takes one client's upload after the other's
  TensorOffload tensor_offload{};
};

/// @param values switch name to value, every switch; @param max_message_bytes of the transport;
/// @param device where the roles compute, and the server's answers come from. Throws Error(usage)
/// naming a switch that is missing, unknown, or has an unknown value.
Optimizations make_optimizations(const nlohmann::json& values, std::size_t max_message_bytes,
                                 const at::Device& device = at::kCPU);

}  // namespace memduel
