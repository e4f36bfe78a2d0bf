// The probes inside a worker: bytes of LibTorch's caching allocator on the GPU, bytes of CPU
// tensors (counted by a wrapper around LibTorch's CPU allocator, because LibTorch's own reporting
// hook is thread-local and would miss the tensors that transport threads make), and the custom
// metrics that a role sends of them, of the allocator and of its cleanups.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "memduel/memory.h"

namespace memduel {

struct CudaBytes {
  std::int64_t allocated = 0;       ///< in blocks that tensors have
  std::int64_t reserved = 0;        ///< in segments from cudaMalloc, whether in use or not
  std::int64_t inactive_split = 0;  ///< free parts of segments that are in use: fragmentation
  std::int64_t peak_allocated = 0;  ///< both peaks since the last reset_cuda_peaks
  std::int64_t peak_reserved = 0;
};

/// Of the device, as the driver counts them for all processes.
struct CudaCapacity {
  std::int64_t free = 0;
  std::int64_t total = 0;
};

/// Why there is no GPU of this number to ask: a LibTorch for the CPU alone, or no such device;
/// empty where there is one.
std::string why_no_cuda(int index = 0);

/// 0 without a LibTorch for CUDA.
int gpu_count();

/// The GPU that everything below is about; the first until somebody names another.
void use_gpu(int index);

/// Whether this process has used the device; asking it anything starts it.
bool is_cuda_started();

/// Absent without a LibTorch for CUDA. The device must have been used.
std::optional<CudaBytes> cuda_bytes();
std::optional<CudaCapacity> cuda_capacity();

/// The peaks start again from what there is now.
void reset_cuda_peaks();

/// Waits until the device has done all that it was asked for.
void synchronize_cuda();

/// Gives what is reserved but not allocated back to the driver; nothing without a LibTorch for
/// CUDA.
void empty_cuda_cache();

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

/// One for each process; cleanups may come from any thread.
class CleanupTime {
 public:
  /// Call beside the mark that begins a round.
  void begin_round();

  /// A cleanup of the running round; one between rounds counts in the share alone.
  void add(const CleanupReport& report);

  /// Sends cleanup_seconds and heap_cleanup_seconds, the allocator's part of it, of the round, and
  /// cleanup_ratio, the share of all cleanups in the time since the first round began. A role that
  /// never cleans up sends zeros, so that arms can be compared. Call before the mark that ends a
  /// round.
  void end_round();

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::optional<Clock::time_point> first_round_;
  double seconds_ = 0;
  double heap_seconds_ = 0;
  double all_seconds_ = 0;
};

}  // namespace memduel
