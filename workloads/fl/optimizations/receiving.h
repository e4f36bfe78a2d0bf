// How a model is received. Switch receive: how the pieces of an incoming model are put together.
// Switch deserialize: how its bytes become tensors. Switch tensor_offload: where the server keeps
// an upload until it is averaged, as NVFlare's enable_tensor_disk_offload decides it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "fl/models.h"
#include "fl/transport.h"
#include "sending.h"

namespace memduel {

class Deserializer {
 public:
  Deserializer() = default;
  Deserializer(const Deserializer&) = delete;
  Deserializer& operator=(const Deserializer&) = delete;
  virtual ~Deserializer() = default;

  /// @param from the sender, for messages. Throws Error(cannot_measure) on malformed bytes.
  [[nodiscard]] virtual State load(SharedBytes bytes, const std::string& from) const = 0;
};

/// @param value source_device: copied to the device that the sender used; cpu_first: copied to the
/// CPU (the same where that is the device); in_place_views: tensors over the buffer itself.
/// @param device where the roles compute.
std::unique_ptr<Deserializer> make_deserializer(const std::string& value,
                                                const at::Device& device = at::kCPU);

struct IncomingModel {
  Header header;
  State state;
};

class ModelReceiver {
 public:
  ModelReceiver() = default;
  ModelReceiver(const ModelReceiver&) = delete;
  ModelReceiver& operator=(const ModelReceiver&) = delete;
  virtual ~ModelReceiver() = default;

  /// @param into tensors that may be filled directly; absent: new ones are made. Throws
  /// Error(cannot_measure) on malformed bytes and on tensors that differ from `into`.
  [[nodiscard]] virtual IncomingModel receive(Call& call, CallFrame& frame,
                                              const State* into) const = 0;
};

struct ReceiveParts {
  const Framing& framing;            ///< must outlive the receiver
  const Deserializer& deserializer;  ///< likewise; into_tensors does without
};

/// @param value concatenate: bytes += piece on the client (a new buffer each time), a list joined
/// on the server; bytearray: one growing buffer; chunk_list: a list, written to a stream, read out
/// of it; inflated_chunks: a list, a bytearray of it and bytes of that, and the frame keeps the
/// responses that the pieces came in; new_tensors: each piece goes to its place in tensors made for
/// it; into_tensors: in those of the model.
std::unique_ptr<ModelReceiver> make_receiver(const std::string& value, ReceiveParts parts);

enum class TensorOffload { none, disk };
TensorOffload choose_tensor_offload(const std::string& value);

/// Throws Error(usage) where an upload would be offloaded and `aggregate` needs it in memory.
void expect_offloadable(TensorOffload offload, const std::string& aggregate);

/// Each tensor of more than 2 MiB goes into an unlinked file of its own in `directory`, from where
/// it is mapped for reading: its pages become resident when it is used, and go with the tensor. The
/// framing must outlive the receiver. receive() throws Error(io) where the file cannot be written.
std::unique_ptr<ModelReceiver> make_offloading_receiver(const Framing& framing,
                                                        std::filesystem::path directory);

}  // namespace memduel
