// Switch tensor_offload: where the server keeps an upload until it is averaged, as NVFlare's
// enable_tensor_disk_offload decides it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "workloads/optimizations/receive.h"

namespace memduel {

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
