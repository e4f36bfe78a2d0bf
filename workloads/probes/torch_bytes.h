// Bytes of CPU tensors, counted by a wrapper around LibTorch's CPU allocator. LibTorch's own
// reporting hook is thread-local and would miss the tensors that transport threads make.
#pragma once

#include <cstdint>

namespace memduel {

struct TorchBytes {
  std::int64_t live = 0;
  std::int64_t peak = 0;       ///< since the last reset_torch_peak
  std::int64_t allocated = 0;  ///< sum of all allocations ever made
};

/// Counts from now on. Call once, before the first tensor; again has no effect.
void install_torch_probe();

/// All threads together.
TorchBytes torch_bytes();

/// The peak starts again from what is live.
void reset_torch_peak();

/// While it lives, a CPU tensor with which more than `bytes` would be live throws
/// c10::OutOfMemoryError, in whatever thread. One at a time.
class TorchLimit {
 public:
  explicit TorchLimit(double bytes);
  ~TorchLimit();
  TorchLimit(const TorchLimit&) = delete;
  TorchLimit& operator=(const TorchLimit&) = delete;
};

}  // namespace memduel
