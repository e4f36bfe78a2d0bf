// Keeps the memory of a long-running program flat: gives back to the system what is free, under
// whichever allocator the program runs, and says when memory runs short. Link memduel::memory; no
// LibTorch (memduel/memory_torch.h has its part). docs/memory-library.md says what each function
// does under each allocator, and what it costs.
//
//   memduel::limit_arenas(memduel::kClientArenas);  // before the first thread
//   memduel::CleanupPolicy policy({.light_every = 5, .heavy_every = 10});
//   for (int round = 1; round <= rounds; ++round) {
//     train(round);
//     policy.round_ended(round);
//   }
//
// Bytes are bytes. What could not be read is absent. What gives memory back or reads a number never
// throws and says in its result what was not possible; a setting without a meaning is refused with
// std::invalid_argument by whoever is given it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memduel/allocator.h"

namespace memduel {

// ---- arenas of glibc's malloc ------------------------------------------------------------------

/// What NVFlare recommends.
inline constexpr int kClientArenas = 2;
inline constexpr int kServerArenas = 4;

struct ArenaUse {
  std::optional<int> limit;          ///< that is in force; absent: none but glibc's own, 8 per core
  std::optional<std::int64_t> made;  ///< arenas that exist; absent where the allocator has none
  std::string note;                  ///< why there is no limit, or it is not kept; else empty

  [[nodiscard]] bool is_kept() const { return limit && made && *made <= *limit; }
};

/// As MALLOC_ARENA_MAX in the environment would, from inside: at most `most` arenas, the main one
/// counted. Call it before the first thread allocates, for an arena that exists stays; the result
/// tells. Other allocators do not hear it. Throws std::invalid_argument below 1.
ArenaUse limit_arenas(int most);

/// The limit that is in force, of limit_arenas or MALLOC_ARENA_MAX, against the arenas that exist.
ArenaUse arena_use() noexcept;

// ---- devices -----------------------------------------------------------------------------------

struct DeviceBytes {
  std::int64_t allocated = 0;  ///< in blocks that tensors have
  std::int64_t reserved = 0;   ///< taken from the driver by this process's cache, in use or not
  std::int64_t free = 0;       ///< as the driver has it, for all processes
  std::int64_t total = 0;

  [[nodiscard]] std::int64_t used() const { return total - free; }
};

/// A device with a cache of its own. memduel/memory_torch.h has LibTorch's.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// Why it can do nothing here; empty where it works.
  [[nodiscard]] virtual std::string limitation() const = 0;
  [[nodiscard]] virtual std::optional<DeviceBytes> bytes() const = 0;
  /// Waits until the device has done all that it was asked for.
  virtual void synchronize() = 0;
  /// Gives what is reserved but not allocated back to the driver.
  virtual void empty_cache() = 0;
};

// ---- cleanup -----------------------------------------------------------------------------------

enum class HeapCleanup {
  none,       ///< the heap is left alone
  give_back,  ///< glibc: malloc_trim; tcmalloc: ReleaseFreeMemory; mimalloc: mi_collect; jemalloc:
              ///< nothing, for its decay gives free pages back by itself
  purge,      ///< the same, and what the calling thread keeps for itself under jemalloc and
              ///< tcmalloc, and jemalloc's free pages now
};

struct CleanupOptions {
  HeapCleanup heap = HeapCleanup::give_back;
  std::function<void()> drop = nullptr;  ///< first of all: lets go of what is no longer needed
  DeviceMemory* device = nullptr;        ///< waited for once that is dropped; nullptr: none
  bool empty_device_cache = true;        ///< once it was waited for
  bool verbose = false;                  ///< reads memory before and after, which costs 20 us
};

/// What was done to the heap.
enum class HeapAction {
  none,           ///< as asked
  trimmed,        ///< glibc
  left_to_decay,  ///< jemalloc, without a purge
  purged,         ///< jemalloc
  released,       ///< tcmalloc
  collected,      ///< mimalloc
  not_possible,   ///< another allocator or system; a note says so
};

/// "trimmed", "left to decay", …
const char* name_of(HeapAction action);

struct MemoryReading {
  std::optional<std::int64_t> rss_bytes;
  std::optional<std::int64_t> heap_free_bytes;        ///< AllocatorState::held_free
  std::optional<std::int64_t> device_reserved_bytes;  ///< DeviceBytes::reserved
};

struct CleanupReport {
  Allocator allocator = Allocator::unknown;
  HeapAction heap = HeapAction::none;
  std::optional<int> trim_result;  ///< of try_malloc_trim
  double seconds = 0;              ///< all of it but the readings
  double heap_seconds = 0;         ///< of them what the allocator took
  MemoryReading before;            ///< both with CleanupOptions::verbose only
  MemoryReading after;
  std::vector<std::string> notes;  ///< what was asked for and was not possible

  /// Resident memory before less after; below 0 where it grew meanwhile.
  [[nodiscard]] std::optional<std::int64_t> freed_bytes() const;
};

/// "freed 30.0 MiB (RSS 240.0 MiB to 210.0 MiB), glibc trimmed, 1.20 ms", and the notes.
std::string to_string(const CleanupReport& report);

/// glibc's malloc_trim(0), for all arenas: 1 memory went back to the system, 0 there was none to
/// give back. Absent, and nothing done, where another allocator serves malloc.
std::optional<int> try_malloc_trim() noexcept;

/// Drops, waits for the device, empties its cache, cleans the heap up: in this order, because each
/// step frees what the next one can give back. A step that fails is a note, and the next is done.
CleanupReport cleanup_memory(const CleanupOptions& options = {}) noexcept;

// ---- numbers -----------------------------------------------------------------------------------

/// The memory that something is killed for exceeding.
struct MemoryLimit {
  std::int64_t bytes = 0;
  std::string group;  ///< the directory of the control group; empty: the whole machine
};

/// Shares of the last ten seconds in which tasks stood still for want of memory, as the kernel
/// counts them (PSI).
struct MemoryStall {
  double some_percent = 0;  ///< at least one task
  double full_percent = 0;  ///< all of them
  std::string group;        ///< the control group that they belong to; empty: the whole machine
};

struct MemoryInfo {
  std::chrono::system_clock::time_point time;
  std::optional<double> cpu_percent;  ///< of all CPUs, during MemoryInfoOptions::cpu_interval

  // This process.
  std::optional<std::int64_t> rss_bytes;
  std::optional<std::int64_t> peak_rss_bytes;  ///< VmHWM
  std::optional<std::int64_t> rss_anon_bytes;
  std::optional<std::int64_t> rss_file_bytes;
  std::optional<std::int64_t> rss_shmem_bytes;
  std::optional<std::int64_t> swapped_bytes;
  std::optional<std::int64_t> pss_bytes;
  Allocator allocator = Allocator::unknown;
  AllocatorState heap;

  // What it may use: its control group's limit where one is tighter than the machine.
  std::optional<MemoryLimit> limit;
  std::optional<std::int64_t> limit_used_bytes;  ///< without page cache that is given back at need
  std::optional<MemoryStall> stall;

  // The machine; used is what is not available.
  std::optional<std::int64_t> ram_total_bytes;
  std::optional<std::int64_t> ram_available_bytes;
  std::optional<std::int64_t> swap_total_bytes;
  std::optional<std::int64_t> swap_free_bytes;

  std::optional<DeviceBytes> device;

  [[nodiscard]] std::optional<std::int64_t> ram_used_bytes() const;
  [[nodiscard]] std::optional<double> ram_percent() const;
  [[nodiscard]] std::optional<double> limit_percent() const;
  [[nodiscard]] std::optional<double> device_percent() const;

  using Named = std::vector<std::pair<const char*, std::optional<double>>>;
  /// Every number by a name that ends in its unit, the heap's and the device's too.
  [[nodiscard]] Named numbers() const;
};

struct MemoryInfoOptions {
  std::chrono::milliseconds cpu_interval{0};  ///< how long to watch the CPUs; 0: not at all
  bool pss = true;  ///< the kernel goes through all mappings for it: about 1 ms per 100 MiB
  DeviceMemory* device = nullptr;
  std::filesystem::path root = "/";  ///< where proc/ and sys/ lie; other than "/" in tests
};

MemoryInfo memory_info(const MemoryInfoOptions& options = {}) noexcept;

/// "RSS 240.0 MiB, 61.2% of 4096.0 MiB (its control group) used, RAM 35.0% (5.6 GiB), GPU …"
std::string to_string(const MemoryInfo& info);

// ---- pressure ----------------------------------------------------------------------------------

enum class MemoryLevel { normal, warning, critical };

/// "normal", "warning" or "critical".
const char* name_of(MemoryLevel level);

struct PressureOptions {
  double warn_percent = 85;                  ///< of the limit, 0 to 100; reached counts
  double critical_percent = 90;              ///< no less than warn_percent
  std::optional<double> stall_percent = 10;  ///< MemoryStall::some_percent that is a warning
  std::filesystem::path root = "/";          ///< where proc/ and sys/ lie; other than "/" in tests
};

struct PressureReading {
  MemoryLevel level = MemoryLevel::normal;
  std::optional<MemoryLimit> limit;
  std::optional<std::int64_t> used_bytes;
  std::optional<MemoryStall> stall;

  /// 0 to 1, or above; absent where no limit or no use can be read.
  [[nodiscard]] std::optional<double> used_ratio() const;
};

/// "91.3% of 4096.0 MiB used (its control group): critical"
std::string to_string(const PressureReading& reading);

/// Looks at the limit of the process's own control group where that is tighter than the machine,
/// else at the machine. Has no state: several policies may share one, from any thread.
class MemoryPressure {
 public:
  /// Throws std::invalid_argument for percentages out of 0 to 100 or out of order.
  explicit MemoryPressure(PressureOptions options = {});

  [[nodiscard]] PressureReading read() const noexcept;
  [[nodiscard]] const PressureOptions& options() const { return options_; }

 private:
  PressureOptions options_;
};

// ---- policy ------------------------------------------------------------------------------------

/// What a cleanup came after.
enum class CleanupPoint {
  round,
  send,
  trial,
  method,
  repeat,
  end,        ///< of the run
  exception,  ///< that left a CleanupScope
  pressure,   ///< a critical level
};

/// "round", "send", …
const char* name_of(CleanupPoint point);

struct CleanupEvent {
  CleanupPoint point = CleanupPoint::round;
  bool heavy = false;
  int round = 0;  ///< the last one that ended; 0 before the first
  CleanupReport report;
};

/// "round 10: heavy cleanup after a method: freed 30.0 MiB …"
std::string to_string(const CleanupEvent& event);

struct PressureWarning {
  int round = 0;  ///< the one that has just ended
  PressureReading reading;
};

/// "round 10: 91.3% of 4096.0 MiB used (its control group): critical"
std::string to_string(const PressureWarning& warning);

struct CleanupPolicyOptions {
  int light_every = 0;  ///< rounds from one light cleanup to the next; 0: none
  int heavy_every = 0;  ///< likewise; where both are due only the heavy one is done
  int send_every = 0;   ///< sends from one light cleanup to the next; 0: none
  int first_round = 0;  ///< of all cadences of rounds; 0: a cadence of N begins with round N
  CleanupOptions light = {.empty_device_cache = false};
  CleanupOptions heavy = {.heap = HeapCleanup::purge, .verbose = true};
  /// Looked at when rounds end; nullptr: nobody looks. A level is warned of once, until use was
  /// five points lower. While it is critical, `emergency` is done in place of what the round has
  /// due.
  std::shared_ptr<const MemoryPressure> pressure = nullptr;
  int pressure_every = 1;  ///< rounds from one look to the next
  CleanupOptions emergency = {.heap = HeapCleanup::purge, .verbose = true};
  // Called by whoever called the policy, which counts when they throw and goes on. They may ask it
  // for totals.
  std::function<void(const CleanupEvent&)> cleaned = nullptr;
  std::function<void(const PressureWarning&)> warned = nullptr;
};

/// When to clean up. Rounds are counted from 1, as in annotate.h. Safe from several threads.
class CleanupPolicy {
 public:
  /// Throws std::invalid_argument for a number below 0, and for a pressure that is never looked at.
  explicit CleanupPolicy(CleanupPolicyOptions options);
  CleanupPolicy(const CleanupPolicy&) = delete;
  CleanupPolicy& operator=(const CleanupPolicy&) = delete;
  ~CleanupPolicy();

  /// At the end of each round: looks at the pressure, and does the cleanup that is due, if any.
  std::optional<CleanupEvent> round_ended(int round) noexcept;

  /// After each send.
  std::optional<CleanupEvent> sent() noexcept;

  /// A heavy cleanup: between trials, methods and repeats, and at the end of the run.
  CleanupEvent ended(CleanupPoint point) noexcept;

  struct Totals {
    int cleanups = 0;
    double seconds = 0;
    std::int64_t freed_bytes = 0;  ///< by verbose ones
    int warnings = 0;
    int failed_callbacks = 0;
  };
  [[nodiscard]] Totals totals() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Cleans up at the end of a trial, method or repeat, also when an exception ends it. Declare it
/// before what it is to clean up after: C++ destroys that first.
class CleanupScope {
 public:
  CleanupScope(CleanupPolicy& policy, CleanupPoint point);
  CleanupScope(const CleanupScope&) = delete;
  CleanupScope& operator=(const CleanupScope&) = delete;
  ~CleanupScope();

 private:
  CleanupPolicy& policy_;
  CleanupPoint point_;
  int exceptions_;  ///< that were already under way when it was made
};

}  // namespace memduel
