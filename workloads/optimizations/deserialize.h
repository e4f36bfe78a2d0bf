// Switch deserialize: how an encoded state in a buffer becomes tensors.
#pragma once

#include <memory>
#include <string>

#include "workloads/federated/state.h"
#include "workloads/transport/bytes.h"

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

}  // namespace memduel
