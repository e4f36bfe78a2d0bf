// The inside probes' numbers, sent as gauges of the running round.
#pragma once

#include <string>
#include <vector>

namespace memduel {

/// Whether the role computes on a GPU; elsewhere the cuda probe would have to start CUDA to ask it.
enum class OnGpu { no, yes };

/// Which probes send their numbers; the torch probe counts from here on, so call it before the
/// first tensor. @param meters names as in `list meters`; others are ignored.
void install_probes(const std::vector<std::string>& meters, OnGpu on_gpu);

/// cuda: sends idle_gpu_reserved_bytes, what LibTorch's start-up left reserved, and lets the peaks
/// begin there. Call once, before the idle mark.
void send_idle_gauges();

/// The role's idle mark: loaded, and its model not yet built. First the heap's free pages go back
/// to the system: what loading a data set left free would count as idle, and the model that reuses
/// it would cost nothing.
void mark_idle();

/// torch: sends peak_torch_cpu_bytes; cuda: peak_gpu_allocated_bytes and peak_gpu_reserved_bytes;
/// since the last call of this or the next. Then the peaks start again. Call before a phase's mark:
/// the number belongs to the phase that ends, and the round's is the largest.
void send_phase_gauges();

/// allocator: sends what allocator_state has. torch: sends torch_cpu_bytes and
/// peak_torch_cpu_bytes (since the last call), then lets the tensor peak start again. cuda: the
/// same of the GPU, allocated and reserved, with gpu_inactive_split_bytes. Call before each
/// mark that ends a round, and before anything that resets the peaks itself, once the device has
/// done its work.
void send_memory_gauges();

}  // namespace memduel
