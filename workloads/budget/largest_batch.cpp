#include "budget/largest_batch.h"

#include <new>

#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/training.h"

namespace memduel {
namespace {

bool finishes(const TrainingStep& step, const at::Device& device, std::int64_t batch,
              double limit_bytes) {
  try {
    std::optional<TorchLimit> limit;
    if (device.is_cpu()) limit.emplace(limit_bytes);
    step(batch);
    await_device(device);
    return true;
  } catch (const c10::OutOfMemoryError&) {
  } catch (const std::bad_alloc&) {
  }
  if (device.is_cuda()) empty_cuda_cache();
  return false;
}

}  // namespace

std::optional<double> step_peak(const TrainingStep& step, const at::Device& device,
                                std::int64_t batch, double limit_bytes) {
  reset_peak_bytes(device);
  if (!finishes(step, device, batch, limit_bytes)) return std::nullopt;
  const double peak = peak_bytes(device);
  if (peak > limit_bytes) return std::nullopt;
  return peak;
}

FoundBatch largest_batch(const TrainingStep& step, const at::Device& device, double budget_bytes,
                         const BatchBounds& bounds, BatchSearch how) {
  static_cast<void>(step_peak(step, device, bounds.least, budget_bytes));
  const PeakOfBatch peak = [&](std::int64_t batch) {
    return step_peak(step, device, batch, budget_bytes);
  };
  return how == BatchSearch::search ? search_batch(bounds, peak)
                                    : measure_batch(budget_bytes, bounds, peak);
}

}  // namespace memduel
