// The largest batch that fits, found by running training steps.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "training/measured_batch.h"

namespace memduel {

/// One training step with so many samples: makes the batch, forward, backward, optimizer step.
/// Steps change weights, the optimizer and LibTorch's random numbers: give it a training of its
/// own, not the one that is to be measured. Any allocation in it may throw.
using TrainingStep = std::function<void(std::int64_t batch)>;

/// The most tensor bytes alive on the device during the step, those from before it included; absent
/// where it had not memory enough or took more than `limit_bytes`. On the CPU a step is stopped
/// there, so that the machine does not run out. Needs install_torch_probe() before the first
/// tensor.
std::optional<double> step_peak(const TrainingStep& step, const at::Device& device,
                                std::int64_t batch, double limit_bytes);

enum class BatchSearch {
  measured,  ///< measure_batch
  search,    ///< search_batch
};

/// Runs the least batch once before, so that gradients and the optimizer's state are there.
/// @param budget_bytes for all tensors on the device, those from before included.
FoundBatch largest_batch(const TrainingStep& step, const at::Device& device, double budget_bytes,
                         const BatchBounds& bounds, BatchSearch how);

}  // namespace memduel
