// The allocator as an arm: which library is preloaded, with which settings, and what the witness
// needs to verify it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "memduel/allocator.h"
#include "trial/trial_plan.h"

namespace memduel {

struct AllocatorOffer {
  Allocator allocator = Allocator::unknown;
  std::vector<std::string> files;             ///< of its library, best first; none for glibc
  std::string package;                        ///< of Debian
  std::map<std::string, std::string> tuning;  ///< so that it gives memory back; docs/allocators.md
};

/// What an arm may name.
const AllocatorOffer& offer_of(Allocator allocator);

/// The allocator's library: beside libc, in /usr/local, then wherever ldconfig knows it; empty for
/// glibc. Throws as checked_library does.
std::filesystem::path allocator_library(Allocator allocator);

/// What was found as the allocator's library. Throws Error(cannot_measure) naming the package when
/// that is nothing, and for a path that LD_PRELOAD would split.
std::filesystem::path checked_library(Allocator allocator,
                                      const std::optional<std::filesystem::path>& found);

/// The first of `files` that is in one of `directories`, else the path that `cache`, the
/// output of ldconfig -p, has for one of them.
std::optional<std::filesystem::path> find_library(
    const std::vector<std::string>& files, const std::vector<std::filesystem::path>& directories,
    const std::string& cache);

/// Preloads the allocator before what the process's LD_PRELOAD has, `inherited` where it sets none.
/// Variables that the process has already win over the tuning.
void preload_allocator(ProcessSpec& process, Allocator allocator, const std::string& inherited);

/// Has the process verified: the witness comes before everything else that is preloaded, and its
/// file into `trial_dir`. Throws Error(io) without the library.
void require_allocator(ProcessSpec& process, Allocator allocator, const std::string& inherited,
                       const std::filesystem::path& trial_dir);

}  // namespace memduel
