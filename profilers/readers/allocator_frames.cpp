#include "profilers/readers/allocator_frames.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memduel {

namespace {

// What programs call, by the names that pprof and jeprof drop (RemoveUninterestingFrames).
constexpr std::array<std::string_view, 26> kAllocatorEntries = {
    "malloc",        "calloc",      "realloc",   "memalign",     "posix_memalign",
    "aligned_alloc", "valloc",      "pvalloc",   "operator new", "operator new[]",
    "mallocx",       "rallocx",     "xallocx",   "tc_malloc",    "tc_calloc",
    "tc_realloc",    "tc_memalign", "tc_valloc", "tc_pvalloc",   "tc_posix_memalign",
    "tc_new",        "tc_newarray", "do_malloc", "newImpl",      "DoSampledAllocation",
    "tc_new_nothrow"};

std::string_view allocator_file(const Profile& profile, const ProfileLocation& location) {
  std::string_view path;
  if (location.module) {
    path = profile.modules[*location.module].path;
  } else if (!location.names.empty() && location.names[0].function.starts_with('[')) {
    path = location.names[0].file;
  }
  return path.substr(path.rfind('/') + 1);
}

/// Of the function that the frame is of, whatever was inlined into it, without its parameters.
std::string_view allocator_function(const ProfileLocation& location) {
  if (location.names.empty()) return {};
  const std::string_view name = location.names.back().function;
  return name.substr(0, name.find('('));
}

bool is_allocator_frame(const Profile& profile, const ProfileLocation& location) {
  const std::string_view file = allocator_file(profile, location);
  if (file.starts_with("libjemalloc") || file.starts_with("libtcmalloc")) return true;
  const std::string_view name = allocator_function(location);
  return name.starts_with("je_") || name.starts_with("tcmalloc::") ||
         std::ranges::find(kAllocatorEntries, name) != kAllocatorEntries.end();
}

}  // namespace

std::size_t allocator_frames(const Profile& profile, const std::vector<std::uint32_t>& locations) {
  std::size_t own = 0;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    if (is_allocator_frame(profile, profile.locations[locations[i]])) own = i + 1;
  }
  if (own > 0) return own;
  // A jemalloc inside the program whose entries were inlined: its profiler is still above them.
  // Only there, for a program may have functions of that name too.
  while (own < locations.size() &&
         allocator_function(profile.locations[locations[own]]).starts_with("prof_")) {
    ++own;
  }
  return own;
}

}  // namespace memduel
