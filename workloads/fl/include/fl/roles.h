// Where a role computes: the CPU, or a GPU.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace memduel {

/// A role's device as LibTorch's, and for a GPU the one that the probes ask from now on. Throws
/// Error(cannot_measure) where it cannot be used here.
at::Device open_device(const std::string& name);

/// Ends the running phase once the device has done its work, with its tensor peaks, and begins
/// another.
void begin_phase(const at::Device& device, const char* name);

/// Waits until the device has done all that it was asked for, so that the time of a phase is its
/// own. On the CPU there is nothing to wait for.
void await_device(const at::Device& device);

/// What may still be taken there: of the GPU; of the machine, or what its limit leaves.
std::int64_t available_bytes(const at::Device& device);

}  // namespace memduel
