// What a tracer leaves, in one in-memory model, whichever tracer made it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profilers/profile/model/estimate.h"
#include "profilers/profile/model/heap_totals.h"
#include "profilers/profile/model/resident_snapshot.h"

namespace memduel {

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
enum class Heap { malloc, mapping, both };
template <>
inline constexpr NameTable<Heap, 3> kNameTable<Heap> = {
    {{Heap::malloc, "malloc"}, {Heap::mapping, "mapping"}, {Heap::both, "heap_and_mapped"}}};

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

struct Profile {
  std::map<std::string, std::string>
      info;  ///< program, command, mode, interval_bytes, allocator, …
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

  [[nodiscard]] bool sampled() const;
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

/// The same by stack, rounds and phases summed; largest first.
std::vector<std::pair<std::uint32_t, Estimate>> stacks_of(const Profile& profile,
                                                          const LiveSites& sites);

/// Frame names of a stack, outermost first, inlined frames expanded.
std::vector<FrameName> frames_of(const Profile& profile, std::uint32_t stack);

/// A location as one text: its innermost name, or module+offset.
std::string describe(const Profile& profile, const ProfileLocation& location);

}  // namespace memduel
