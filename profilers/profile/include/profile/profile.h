// Profile: what any tracer leaves, as values. Estimate is an amount of memory by allocation site,
// HeapTotals are the exact counters of a process image, and ResidentSnapshot has the owners of its
// resident pages at one moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/reflection.h"

namespace memduel {

/// An estimated amount: sums of unbiased samples. Exact when every block was recorded (variance 0).
struct Estimate {
  double bytes = 0;     ///< requested bytes
  double count = 0;     ///< blocks
  double variance = 0;  ///< of bytes
  std::int64_t samples = 0;

  // A replay adds and subtracts several times for each event.
  Estimate& operator+=(const Estimate& other) {
    bytes += other.bytes;
    count += other.count;
    variance += other.variance;
    samples += other.samples;
    return *this;
  }
  /// An amount of no samples is exactly nothing, whatever rounding left of the sums.
  Estimate& operator-=(const Estimate& other) {
    samples -= other.samples;
    if (samples <= 0) {
      *this = Estimate{};
      return *this;
    }
    bytes -= other.bytes;
    count -= other.count;
    variance = std::max(0.0, variance - other.variance);
    return *this;
  }

  /// Half the width of the 95% interval of `bytes` (normal approximation).
  [[nodiscard]] double half_width() const;
};

/// What was live at one moment, by site (index into Profile::sites).
using LiveSites = std::vector<std::pair<std::uint32_t, Estimate>>;

/// Block bytes (see profilers/recorder/include/recorder/layout.h), but for allocated_bytes.
struct HeapTotals {
  std::int64_t live_bytes = 0;       ///< live_at_end_bytes of an image that has ended
  std::int64_t peak_bytes = 0;       ///< peak_heap_bytes
  std::int64_t allocated_bytes = 0;  ///< requested bytes
  std::int64_t allocations = 0;      ///< allocation_count
  std::int64_t mapping_bytes = 0;
  std::int64_t mapping_peak_bytes = 0;
  /// Of live blocks and of mappings as peak_heap_and_mapped_bytes counts them; 0 in a profile of an
  /// earlier version.
  std::int64_t together_peak_bytes = 0;
  std::int64_t lost = 0;     ///< events, scopes or blocks that could not be kept
  std::int64_t threads = 0;  ///< that allocated or freed
};

template <>
inline constexpr auto kDescription<HeapTotals> =
    described("HeapTotals", always("live_bytes", &HeapTotals::live_bytes),
              always("peak_bytes", &HeapTotals::peak_bytes),
              always("allocated_bytes", &HeapTotals::allocated_bytes),
              always("allocations", &HeapTotals::allocations),
              always("mapping_bytes", &HeapTotals::mapping_bytes),
              always("mapping_peak_bytes", &HeapTotals::mapping_peak_bytes),
              always("together_peak_bytes", &HeapTotals::together_peak_bytes),
              always("lost", &HeapTotals::lost), always("threads", &HeapTotals::threads));

/// Who owns a resident page, or a part of one.
enum class PageOwner {
  live,           ///< live blocks, as far as their pages are resident
  fragmentation,  ///< free space in pages that live blocks keep
  free,           ///< the allocator's pages with nothing live on them
  inherited,  ///< what a forked process has from before the fork: whose is in its parent's profile
  mapped,     ///< anonymous mappings of the program that are not the allocator's
  stack,      ///< of threads
  file,       ///< mapped files and shared memory
  recorder,   ///< the recorder's own: in no sum
  other,      ///< the rest
};
template <>
inline constexpr NameTable<PageOwner, 9> kNameTable<PageOwner> = {
    {{PageOwner::live, "live"},
     {PageOwner::fragmentation, "fragmentation"},
     {PageOwner::free, "free"},
     {PageOwner::inherited, "inherited"},
     {PageOwner::mapped, "mapped"},
     {PageOwner::stack, "stack"},
     {PageOwner::file, "file"},
     {PageOwner::recorder, "recorder"},
     {PageOwner::other, "other"}}};

/// For people.
std::string_view in_words(PageOwner owner);

/// Names of parts that are no file.
inline constexpr const char* kProgramBreak = "program-break";
inline constexpr const char* kFurtherArenas = "further-arenas";
inline constexpr const char* kAllocatorMappings = "allocator-mappings";
inline constexpr const char* kMainThread = "main-thread";
inline constexpr const char* kOtherThreads = "other-threads";
/// Of a mapping that a forked process has from its parent, pages that only the child touched.
inline constexpr const char* kMappedBeforeFork = "mapped-before-fork";
inline constexpr const char* kOwnCopy = "own-copy";
inline constexpr const char* kSharedWithOthers = "shared-with-others";
/// Of System V, POSIX and anonymous shared memory, in place of a file's name.
inline constexpr const char* kSharedMemory = "shared-memory";
/// Shares of a file.
inline constexpr const char* kShared = "shared";
inline constexpr const char* kPrivateCopy = "private-copy";

/// Whether a file's pages are in the page cache, from which the kernel drops them at need, and no
/// shared memory. `share` is as in ResidentPart.
bool is_page_cache(std::string_view file, std::string_view share);

struct ResidentPart {
  PageOwner owner = PageOwner::other;
  std::string name;   ///< of a file: its name; else a word for what it is, or empty
  std::string share;  ///< of a file: kShared or kPrivateCopy
  double bytes = 0;
};

struct ResidentSnapshot {
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  int round = 0;             ///< 0: outside rounds
  std::string phase;
  double kernel_bytes = 0;   ///< Rss of smaps_rollup
  double swapped_bytes = 0;  ///< not resident, and so not explained
  double hugetlb_bytes = 0;  ///< of hugetlbfs: the kernel does not count them as resident
  double seconds = 0;        ///< that threads which allocate waited for it
  bool zeros_apart = true;   ///< else pages of zeros are left out by what smaps says per mapping
  std::vector<ResidentPart> parts;  ///< all of them, by owner, the largest first
  LiveSites sites;      ///< the same but for the recorder's, by stacks that begin with their owner
  LiveSites untouched;  ///< asked for and never touched, by the stacks of live and mapping

  /// Of an owner, or of all but the recorder.
  [[nodiscard]] double bytes_of(PageOwner owner) const;
  [[nodiscard]] double explained_bytes() const;
  /// What the kernel counts for the program, without the recorder.
  [[nodiscard]] double program_bytes() const;
  /// What no part has, because pages came or went while the snapshot was taken, and what is
  /// unexplained by name.
  [[nodiscard]] double unexplained_bytes() const;
};

/// A library or program that frames lie in.
struct ProfileModule {
  std::string path;
  std::string build_id;     ///< hexadecimal; empty when the file has none
  std::uint64_t begin = 0;  ///< where it was mapped
  std::uint64_t end = 0;
  std::uint64_t bias = 0;  ///< mapped address minus address in the file
};

/// A function at a place; several per location where calls were inlined.
struct FrameName {
  std::string function;  ///< demangled; `module+0x1234` where nothing better is known
  std::string file;      ///< empty when unknown
  int line = 0;          ///< 0 when unknown
};

/// A place in the code.
struct ProfileLocation {
  enum class Kind {
    native,
    python,
    lost,
    owner  ///< no code: of resident pages, at the root; the name of a runtime's memory, outside of
           ///< the runtime's frames
  };
  Kind kind = Kind::native;
  std::optional<std::size_t> module;  ///< index into Profile::modules
  std::uint64_t address = 0;          ///< in the module's file; absolute without a module
  std::vector<FrameName> names;       ///< innermost (inlined) first; empty before symbolization
};

template <>
inline constexpr NameTable<ProfileLocation::Kind, 4> kNameTable<ProfileLocation::Kind> = {
    {{ProfileLocation::Kind::native, "native"},
     {ProfileLocation::Kind::python, "python"},
     {ProfileLocation::Kind::lost, "lost"},
     {ProfileLocation::Kind::owner, "owner"}}};

/// A stack is a node and the way to the root; node 0 is the root and no frame.
struct StackNode {
  std::uint32_t parent = 0;
  std::uint32_t location = 0;
};

/// `both` is no site's: it asks for malloc's blocks and mappings at one moment.
enum class Heap { malloc, mapped, both };
template <>
inline constexpr NameTable<Heap, 3> kNameTable<Heap> = {
    {{Heap::malloc, "malloc"}, {Heap::mapped, "mapped"}, {Heap::both, "heap_and_mapped"}}};

/// Blocks of one stack that one thread allocated in one round and phase, and what became of them.
struct AllocationSite {
  std::uint32_t stack = 0;
  int round = 0;             ///< 0: outside rounds
  std::uint32_t phase = 0;   ///< index into Profile::phases; 0 is no phase
  std::uint32_t thread = 0;  ///< in the order of their first allocation, from 1; 0: not known
  Heap heap = Heap::malloc;
  Estimate allocated;
  Estimate live;       ///< at the end
  Estimate temporary;  ///< freed by the thread that allocated, in the phase of the allocation
};

/// The moment with most live bytes in the run, a round or a stretch of a phase.
struct ProfilePeak {
  int round = 0;
  std::uint32_t phase = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  ///< 0: cut off
  Estimate total;
  LiveSites sites;
};

/// Bytes born in one round and live at the end of another: the retention matrix has a row per birth
/// round and a column per end.
struct RetentionCell {
  int born = 0;
  int end = 0;
  Estimate total;
  LiveSites sites;
};

/// Block sizes from 2^k up to 2^(k+1) - 1 requested bytes; size 0 is in the bin of 1.
struct SizeBin {
  std::int64_t at_least = 0;
  Estimate allocated;
};

/// The heap at one moment of the run, of tools that note how it grew.
struct ProfileMoment {
  double at = 0;     ///< milliseconds
  double bytes = 0;  ///< live
  std::optional<double> rss_bytes;
};

/// What the amounts of a profile are. `Estimate::bytes` holds them whatever the unit is.
enum class ProfileUnit {
  bytes,
  nanoseconds,  ///< of a CPU profile: amounts are in `allocated`, counts are samples
  samples,      ///< of something that only was counted; likewise
};

enum class CountedSize {
  requested,    ///< what the program asked for
  size_classes  ///< what the allocator set aside: at most a quarter and 15 bytes a block more
};

/// What a tool's amounts mean, whatever there is in one of its profiles.
struct ToolFacts {
  std::string tool;  ///< "heaptrack", "memduel"; the format where the tool is not known
  CountedSize counted = CountedSize::requested;
  bool has_peak = false;
  bool has_allocated = false;
  bool has_live = false;
};

struct Profile {
  std::map<std::string, std::string>
      info;                        ///< program, command, mode, interval_bytes, allocator, …
  std::optional<ToolFacts> facts;  ///< from the reader of a format that one tool writes
  ProfileUnit unit = ProfileUnit::bytes;
  bool counted = true;                 ///< Estimate::count is known
  std::optional<HeapTotals> counters;  ///< exact, beside samples
  std::vector<std::string> phases{""};
  std::vector<ProfileModule> modules;
  std::vector<ProfileLocation> locations;
  std::vector<StackNode> stacks{StackNode{}};
  std::vector<AllocationSite> sites;
  ProfilePeak peak;          ///< of the run, malloc heap
  ProfilePeak mapping_peak;  ///< of the run, mapping heap: their sizes, touched or not
  /// Of the run, both heaps at the peak of their sum: of mappings what was touched. Empty in a
  /// profile whose mappings say nothing of it.
  ProfilePeak together_peak;
  std::vector<ProfilePeak> round_peaks;
  std::vector<ProfilePeak> phase_peaks;
  std::vector<RetentionCell> retention;
  std::vector<SizeBin> sizes;
  std::vector<ProfileMoment> moments;  ///< in their order; empty where the tool kept none
  std::optional<ResidentSnapshot> resident;
  std::vector<std::string> notes;  ///< losses and limits a reader must know
  bool is_recovered = false;       ///< blocks of its file are damaged or missing: notes say so

  /// Of info.
  [[nodiscard]] std::string fact(const std::string& key, const std::string& otherwise = {}) const;
  [[nodiscard]] bool sampled() const;
  /// Whether any site has an allocated amount.
  [[nodiscard]] bool any_allocated() const;
};

/// In Profile::info: HeapTotals::together_peak_bytes.
inline constexpr const char* kTogetherPeakFact = "heap_and_mapped_peak_bytes";
/// Likewise "yes": it has a part of large mappings, of which looks told what was touched.
inline constexpr const char* kTogetherSampledFact = "heap_and_mapped_is_sampled";

/// The most that a program had resident before any free, of a recording that was to take snapshots.
std::optional<double> peak_resident_bytes(const Profile& profile);

std::string to_string(ProfileUnit unit);

/// 41.3 KiB, 12.3 s or 17.
std::string format_amount(ProfileUnit unit, double amount);

/// The questions that a profile answers by stack.
enum class ProfileKind { peak, live, allocated, temporary, resident };
template <>
inline constexpr NameTable<ProfileKind, 5> kNameTable<ProfileKind> = {
    {{ProfileKind::peak, "peak"},
     {ProfileKind::live, "live"},
     {ProfileKind::allocated, "allocated"},
     {ProfileKind::temporary, "temporary"},
     {ProfileKind::resident, "resident"}}};

/// From its name. Throws Error(usage) naming the nearest.
ProfileKind profile_kind_from(const std::string& name);
std::string to_string(ProfileKind kind);

/// Amounts of `kind` by site, only those that are not empty.
LiveSites sites_of(const Profile& profile, ProfileKind kind, Heap heap = Heap::malloc);

Estimate total_of(const LiveSites& sites);

/// The same by stack, rounds and phases summed; largest first.
std::vector<std::pair<std::uint32_t, Estimate>> stacks_of(const Profile& profile,
                                                          const LiveSites& sites);

/// Frame names of a stack, outermost first, inlined frames expanded.
std::vector<FrameName> frames_of(const Profile& profile, std::uint32_t stack);

/// A location as one text: its innermost name, or module+offset.
std::string describe(const Profile& profile, const ProfileLocation& location);

}  // namespace memduel
