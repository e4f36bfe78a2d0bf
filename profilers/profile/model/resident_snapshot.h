// Whose the resident pages of a process were at one moment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "profilers/profile/model/estimate.h"

namespace memduel {

/// Who owns a resident page, or a part of one.
enum class PageOwner {
  live,       ///< live blocks, as far as their pages are resident
  pinned,     ///< free space in pages that live blocks keep
  held,       ///< the allocator's pages with nothing live on them
  inherited,  ///< what a forked process has from before the fork: whose is in its parent's profile
  mapping,    ///< anonymous mappings of the program that are not the allocator's
  stack,      ///< of threads
  file,       ///< mapped files and shared memory
  recorder,   ///< the recorder's own: in no sum
  unexplained,  ///< the rest
};
template <>
inline constexpr NameTable<PageOwner, 9> kNameTable<PageOwner> = {
    {{PageOwner::live, "live"},
     {PageOwner::pinned, "pinned"},
     {PageOwner::held, "held"},
     {PageOwner::inherited, "inherited"},
     {PageOwner::mapping, "mapping"},
     {PageOwner::stack, "stack"},
     {PageOwner::file, "file"},
     {PageOwner::recorder, "recorder"},
     {PageOwner::unexplained, "unexplained"}}};

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
  PageOwner owner = PageOwner::unexplained;
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

}  // namespace memduel
