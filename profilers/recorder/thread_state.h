// What the recorder keeps per thread. Zero-initialised, initial-exec, without constructor or
// destructor: it is usable before main, in signal handlers and after a thread's destructors ran.
#pragma once

#include <cstdint>

#define MEMDUEL_HIDDEN __attribute__((visibility("hidden")))

namespace memduel::recorder {

/// A live block as a snapshot tells it.
struct LiveRecord {
  void* block;
  std::uint64_t requested;
  std::uint32_t node;   ///< of its stack
  std::uint16_t extra;  ///< what the allocator set aside beyond `requested`; cut to fit
  std::uint16_t round;  ///< in which it was born; cut to fit
};

/// The thread's net change of live bytes since it last published is `high - room`. `room` falls
/// with each allocation and grows with each free, so one sign tells that a new high was reached.
struct ThreadState {
  std::int64_t left;          ///< requested bytes until the thread visits the slow path
  std::int64_t room;          ///< block bytes until the thread's change exceeds `high`
  std::int64_t free_left;     ///< block bytes to free until the thread visits the slow path
  std::uint64_t allocations;  ///< since the last publication
  std::int64_t granted;       ///< what `left` was set to
  std::int64_t high;
  std::int64_t publish_at;    ///< a high that publishes; 0 before the first visit
  std::int64_t until_sample;  ///< requested bytes of the current draw beyond `granted`
  std::uint64_t interval;     ///< mean of the distribution that the draw is from
  std::uint64_t random;
  std::uintptr_t guard;  ///< frame of the running allocator call (see Guard), 0 outside
  std::uint32_t id;      ///< from 1; 0 before the first visit
  bool busy;             ///< inside the recorder: nested calls pass through
  bool fork_interrupts;  ///< a signal handler forks that came in the middle of the recorder
  bool forks_as_first;   ///< the process's first thread forks
  bool leaving;          ///< destructors ran: every call publishes at once
  bool freed_sample;     ///< the last freed block was a sample
  LiveRecord freed;      ///< and what a snapshot knew of it: it comes back when a realloc fails
};

// __thread, not thread_local: the latter may call an initialiser on each use from another file.
extern __thread ThreadState tls MEMDUEL_HIDDEN __attribute__((tls_model("initial-exec")));

/// Marks the thread as inside the recorder.
class Busy {
 public:
  Busy() { tls.busy = true; }
  ~Busy() { tls.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

/// Marks a call into the next allocator, so that calls it makes to itself through the dynamic
/// linker are not counted again. An exception may leave the call without ending it; the mark is
/// then above the caller's stack pointer and counts for nothing.
inline bool inside_allocator(const void* frame) {
  return tls.guard != 0 && reinterpret_cast<std::uintptr_t>(frame) < tls.guard;
}

}  // namespace memduel::recorder
