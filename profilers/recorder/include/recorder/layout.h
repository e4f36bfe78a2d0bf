// What the preloaded recorder and those who start it and read its counters agree on: the variables
// that it reads, and the counters page that it leaves, byte for byte.
//
// A recorder that finds kDirectoryVariable creates one file per process image there, named
// `<image>.heap` (image: start time in nanoseconds, dash, process id), maps its first
// sizeof(HeapPage) bytes shared and keeps the counters in them, so that a reader sees them live and
// a process that is killed leaves them behind. Finished rounds and phases follow as Scope records,
// appended one by one.
//
// "Block bytes" are what the allocator set aside for a block: with glibc its chunk size (the usable
// bytes and the header of 8, or 16 for a block with a mapping of its own), with any other allocator
// what malloc_usable_size says. "Requested bytes" are what the program asked for.
//
// Each thread publishes at the latest every publish_bytes requested, gained or lost, so live_bytes
// and peak_bytes are exact in a process of one thread and within unpublished_bytes otherwise.
#pragma once

#include <cstdint>

namespace memduel::recorder {

inline constexpr char kPageMagic[8] = {'M', 'D', 'H', 'E', 'A', 'P', '0', '3'};
inline constexpr std::int64_t kPublishBytes = 64 * 1024;      ///< of the first thread
inline constexpr std::int64_t kLeastPublishBytes = 8 * 1024;  ///< of the eighth and all later ones
inline constexpr std::uint64_t kIntervalBytes = 512 * 1024;   ///< mean between samples, unasked
/// A mapping of this size or more may be a reservation that is touched little by little.
inline constexpr std::int64_t kSparseBytes = 2 * 1024 * 1024;
inline constexpr std::uint32_t kMostSparse = 80;  ///< of more, neighbours are shown as one
inline constexpr int kPhaseNameBytes = 64;        ///< with the terminating zero

/// What a thread may keep to itself once so many have been started.
constexpr std::int64_t publish_bytes(std::int64_t threads) {
  const std::int64_t share = kPublishBytes / (threads < 1 ? 1 : threads);
  return share > kLeastPublishBytes ? share : kLeastPublishBytes;
}

/// What all of them may keep: the n-th never has more than publish_bytes(n).
constexpr std::int64_t unpublished_bytes(std::int64_t threads) {
  constexpr std::int64_t kUnequal = kPublishBytes / kLeastPublishBytes;
  std::int64_t sum = threads > kUnequal ? (threads - kUnequal) * kLeastPublishBytes : 0;
  for (std::int64_t n = 1; n <= threads && n <= kUnequal; ++n) sum += publish_bytes(n);
  return sum;
}

enum class Mode : std::uint32_t { off = 0, count = 1, sampled = 2, exact = 3 };

/// Null for a number that is none of them.
constexpr const char* mode_word(Mode mode) {
  switch (mode) {
    case Mode::off:
      return "off";
    case Mode::count:
      return "count";
    case Mode::sampled:
      return "sampled";
    case Mode::exact:
      return "exact";
  }
  return nullptr;
}

inline constexpr char kDirectoryVariable[] = "MEMDUEL_RECORDER_DIR";      ///< absolute; absent: off
inline constexpr char kModeVariable[] = "MEMDUEL_RECORDER_MODE";          ///< absent: count
inline constexpr char kIntervalVariable[] = "MEMDUEL_RECORDER_INTERVAL";  ///< bytes between samples
inline constexpr char kFirstIntervalVariable[] = "MEMDUEL_RECORDER_FIRST_INTERVAL";
inline constexpr char kSeedVariable[] = "MEMDUEL_RECORDER_SEED";  ///< 0 or absent: from the clock
inline constexpr char kFollowVariable[] = "MEMDUEL_RECORDER_FOLLOW";  ///< 0: no other image

/// When a snapshot of resident memory is taken: one of the words, and its operands
///   peak PERCENT [FROM]   so that the last one has PERCENT % of the peak or more; of a peak below
///                         FROM bytes 3/4
///   rss BYTES             once, when so much is resident
///   mark ROUND [PHASE]    at the mark
///   signal                on SIGUSR2, each time
inline constexpr char kSnapshotVariable[] = "MEMDUEL_RECORDER_SNAPSHOT";
inline constexpr char kSnapshotAtPeak[] = "peak";
inline constexpr char kSnapshotAtSize[] = "rss";
inline constexpr char kSnapshotAtMark[] = "mark";
inline constexpr char kSnapshotOnSignal[] = "signal";

enum class ScopeKind : std::uint32_t { none = 0, round = 1, phase = 2 };

/// A round, or one stretch of a process-wide phase. `*_end` of the running scope are its latest
/// values; times are CLOCK_MONOTONIC nanoseconds.
struct Scope {
  ScopeKind kind;
  std::int32_t round;  ///< 0 outside rounds
  char phase[kPhaseNameBytes];
  std::uint64_t begin_ns;
  std::uint64_t end_ns;  ///< 0 while it runs
  std::int64_t live_begin_bytes;
  std::int64_t live_end_bytes;
  std::int64_t peak_bytes;
  std::int64_t mapping_peak_bytes;
  std::int64_t mapping_end_bytes;
  std::int64_t dense_end_bytes;
  std::int64_t together_peak_bytes;
  std::uint64_t allocated_begin_bytes;
  std::uint64_t allocated_end_bytes;
  std::uint64_t allocations_begin;
  std::uint64_t allocations_end;
};
static_assert(sizeof(Scope) == 176);

inline constexpr std::uint32_t kFinished = 1;  ///< the image ran its exit handlers, _exit or exec
inline constexpr std::uint32_t kForked = 2;    ///< the image is a forked child that has not exec'ed
inline constexpr std::uint32_t kShutOut = 8;   ///< it exec'ed as a user who cannot write records
inline constexpr std::uint32_t kReplaced = 16;  ///< it exec'ed
inline constexpr std::uint32_t kLeftBehind =
    4;  ///< it exec'ed with an environment without the recorder

struct SparseRange {
  std::uint64_t begin;
  std::uint64_t end;
};

struct HeapPage {
  char magic[8];
  std::uint32_t page_bytes;   ///< sizeof(HeapPage)
  std::uint32_t scope_bytes;  ///< sizeof(Scope)
  Mode mode;
  std::uint32_t flags;
  std::int64_t pid;
  std::int64_t parent_pid;
  std::uint64_t started_ns;
  std::uint64_t interval_bytes;  ///< mean sampling interval; 0 unless sampled
  char program[256];             ///< /proc/self/exe, or the link by which it was called; cut to fit
  char allocator[256];           ///< the file that the recorded malloc comes from

  alignas(64) std::int64_t live_bytes;  ///< block bytes
  std::int64_t peak_bytes;              ///< block bytes
  std::uint64_t allocated_bytes;        ///< requested bytes
  std::uint64_t allocations;
  std::int64_t inherited_bytes;  ///< live at fork, in a forked child; part of live_bytes
  std::uint64_t threads;         ///< that allocated or freed
  std::uint64_t lost;            ///< events, scopes or blocks that could not be kept

  /// Anonymous mappings made by the program itself, or inherited at fork.
  alignas(64) std::int64_t mapping_bytes;
  std::int64_t mapping_peak_bytes;
  std::uint64_t mapped_bytes;
  std::uint64_t mappings;
  std::uint64_t ended_ns;  ///< with kFinished; 0 before

  /// Of mapping_bytes, what lies in mappings below kSparseBytes: interpreters map these to use all
  /// of them, so they count as touched.
  std::int64_t dense_bytes;
  /// Of live_bytes + dense_bytes, and before an unmapping and at the end what is touched besides.
  std::int64_t together_peak_bytes;
  std::int64_t inherited_mapping_bytes;  ///< at fork, in a forked child; part of mapping_bytes
  std::int64_t inherited_dense_bytes;    ///< likewise of dense_bytes
  /// The other mappings. A reader finds how much of them is touched in /proc/PID/pagemap.
  std::uint64_t sparse_mappings;  ///< that were made so far, or inherited
  std::uint32_t sparse_version;   ///< odd while the ranges change
  std::uint32_t sparse_count;
  SparseRange sparse[kMostSparse];
  std::uint64_t inherited_count;  ///< in a forked child: the ranges at the fork
  SparseRange
      inherited_ranges[kMostSparse];  ///< of these only pages of no other process are its own

  /// Pages of mapped files that were resident before a large unmapping or at the end, the most.
  std::uint64_t file_peak_bytes;

  alignas(64) Scope round;  ///< the running one, kind none when there is none
  Scope phase;
  std::uint64_t scopes;  ///< finished ones, appended after the page
};
static_assert(sizeof(HeapPage) <= 4096);

}  // namespace memduel::recorder
