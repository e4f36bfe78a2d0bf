// How large a batch fits, from the peaks that training steps reach. Pure but for the steps, which
// the caller runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace memduel {

/// The most tensor bytes that were alive at once in a training step with so many samples.
struct BatchPeak {
  std::int64_t batch = 0;
  double bytes = 0;
};

/// Runs a step with so many samples; absent where that did not fit the budget.
using PeakOfBatch = std::function<std::optional<double>(std::int64_t batch)>;

struct BatchBounds {
  std::int64_t least = 8;
  std::int64_t most = 8192;
};

struct FoundBatch {
  std::int64_t batch = 0;        ///< within the bounds
  bool fits = false;             ///< false: not even the least batch does
  double estimated_bytes = 0;    ///< its peak; 0 where none was seen
  double fixed_bytes = 0;        ///< what a step takes whatever its batch, by the last peaks
  double sample_bytes = 0;       ///< what each sample adds to it
  std::vector<BatchPeak> peaks;  ///< of the steps that fitted, by ascending batch
};

/// The share of a budget that measure_batch leaves free, for what a line does not foresee.
inline constexpr double kHeldBack = 0.04;

/// From a line through the peaks of smaller batches. A peak is the largest of several sums, each of
/// something fixed and something per sample, so it bends upwards: first 16 and 32 are tried, then
/// half of what the line through the last two promises, at most eight times the largest before,
/// until that half was tried, and further where the last step was steeper than the one before it.
/// All steps together have about as many samples as the answer, which is not tried itself.
FoundBatch measure_batch(double budget_bytes, const BatchBounds& bounds, const PeakOfBatch& peak);

/// By trying: doubled from the least until one does not fit, then the gap is halved until it is at
/// most a sixteenth of the answer.
FoundBatch search_batch(const BatchBounds& bounds, const PeakOfBatch& peak);

}  // namespace memduel
