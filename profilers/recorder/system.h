// The few system services that the recorder needs, without the functions that it interposes, and
// the memory that it takes for itself (system.cpp lists those ranges for snapshots).
#pragma once

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;  // a negative errno on failure; errno itself is left alone
}

/// A snapshot asks which pages are the recorder's (visit_own_ranges).
void note_own_range(void* at, std::size_t bytes) MEMDUEL_HIDDEN;
void forget_own_range(const void* at) MEMDUEL_HIDDEN;

/// Private zeroed memory that the recorder owns, never counted; nullptr when there is none.
inline void* own_memory(std::size_t bytes) {
  const long at = raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at < 0 && at > -4096) return nullptr;
  // A huge page would turn sparse memory into resident memory of the program under test.
  raw_syscall(SYS_madvise, at, static_cast<long>(bytes), MADV_NOHUGEPAGE);
  note_own_range(reinterpret_cast<void*>(at), bytes);
  return reinterpret_cast<void*>(at);
}

/// The same for a hash table or a list: memory that is hit all over.
inline void* own_table(std::size_t bytes) {
  // Of a smaller one a huge page would be mostly empty. Of a larger one it spares most misses of
  // the TLB: 7% of a profile trial of the quickstart.
  constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
  void* at = own_memory(bytes);
  if (at != nullptr && bytes >= kHugePageBytes)
    raw_syscall(SYS_madvise, reinterpret_cast<long>(at), static_cast<long>(bytes), MADV_HUGEPAGE);
  return at;
}

inline void release_memory(void* at, std::size_t bytes) {
  forget_own_range(at);
  raw_syscall(SYS_munmap, reinterpret_cast<long>(at), static_cast<long>(bytes));
}

/// From now on is_recorded_process() is true here and in threads of this process.
void note_recorded_process() MEMDUEL_HIDDEN;
extern const volatile bool* recorded_process MEMDUEL_HIDDEN;
/// False in a child whose fork called no handlers (_Fork, a bare system call), which shares the
/// files of its parent's records. Always true before Linux 4.14.
inline bool is_recorded_process() {
  return __builtin_expect(*recorded_process, true);
}

inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// For what libc may change in the middle of somebody else's allocation.
class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

/// Writes all bytes at `offset` (-1: at the file's own position). False on any failure.
inline bool write_all(int fd, const void* bytes, std::size_t count, std::int64_t offset = -1) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const long wrote = offset < 0 ? raw_syscall(SYS_write, fd, reinterpret_cast<long>(at),
                                                static_cast<long>(count))
                                  : raw_syscall(SYS_pwrite64, fd, reinterpret_cast<long>(at),
                                                static_cast<long>(count), offset);
    if (wrote == -4 /* EINTR */) continue;
    if (wrote <= 0) return false;
    at += wrote;
    count -= static_cast<std::size_t>(wrote);
    if (offset >= 0) offset += wrote;
  }
  return true;
}

/// A lock that sleeps in the kernel, needs no initialisation and can be taken over after fork.
class Lock {
 public:
  void lock() {
    std::uint32_t seen = 0;
    if (state_.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
    while (state_.exchange(2, std::memory_order_acquire) != 0) {
      raw_syscall(SYS_futex, reinterpret_cast<long>(&state_), FUTEX_WAIT_PRIVATE, 2);
    }
  }
  void unlock() {
    if (state_.exchange(0, std::memory_order_release) == 2) {
      raw_syscall(SYS_futex, reinterpret_cast<long>(&state_), FUTEX_WAKE_PRIVATE, 1);
    }
  }
  /// In a forked child, whose other threads are gone.
  void reset() { state_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> state_{0};
};

/// One thread at a time has the turn that `taken` stands for; others that come meanwhile go on
/// without it. A forked child sets `taken` to false.
class Turn {
 public:
  explicit Turn(bool& taken)
      : taken_(taken), mine_(!__atomic_exchange_n(&taken, true, __ATOMIC_ACQUIRE)) {}
  ~Turn() {
    if (mine_) __atomic_store_n(&taken_, false, __ATOMIC_RELEASE);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  bool& taken_;
  bool mine_;
};

/// Calls `visit(address, bytes)` for each range that own_memory gave and that is not released, as
/// far as there was room to note it.
void visit_own_ranges(void (*visit)(std::uintptr_t at, std::size_t bytes)) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
