#include "dumped_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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

std::uint64_t number_at(const PlainSource& source, TextCursor& cursor) {
  cursor.skip_spaces();
  const auto found = cursor.number();
  if (!found || *found > kMostCounted) fail_at(source, cursor, "expected a number");
  return *found;
}

void expect_at(const PlainSource& source, TextCursor& cursor, std::string_view wanted) {
  cursor.skip_spaces();
  if (!cursor.skip(wanted)) fail_at(source, cursor, fmt::format("expected \"{}\"", wanted));
}

std::vector<std::uint64_t> calls_at(const PlainSource& source, TextCursor& cursor) {
  std::vector<std::uint64_t> calls;
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const auto address = cursor.skip("0x") ? cursor.number(16) : std::nullopt;
    if (!address) fail_at(source, cursor, "expected an address");
    calls.push_back(*address - 1);  // in the call, not behind it
  }
  return calls;
}

void fail_at(const PlainSource& source, const TextCursor& cursor, const std::string& problem) {
  source.fail(fmt::format("line {}: {}", source.line_number(), problem), cursor.position());
}

Estimate unbiased(std::uint64_t count, std::uint64_t bytes, double interval) {
  const auto n = static_cast<double>(count);
  const auto sum = static_cast<double>(bytes);
  const auto samples = static_cast<std::int64_t>(count);
  if (count == 0 || bytes == 0 || interval <= 1) return {sum, n, 0, samples};
  const double mean = sum / n;
  const double p = -std::expm1(-mean / interval);
  const double missed = std::exp(-mean / interval);
  return {sum / p, n / p, n * mean * mean * missed / (p * p), samples};
}

namespace {

void add_dumped(Profile& profile, StackBuilder& builder, AddressSpace& space,
                const std::vector<DumpedStack>& stacks, bool of_heap) {
  std::vector<std::uint32_t> locations;
  for (const DumpedStack& stack : stacks) {
    locations.clear();
    for (const std::uint64_t call : stack.calls) locations.push_back(space.location_at(call));
    const std::size_t own = of_heap ? allocator_frames(profile, locations) : 0;
    std::uint32_t node = 0;
    for (std::size_t i = locations.size(); i-- > own;) node = builder.stack(node, locations[i]);
    AllocationSite& site = profile.sites[builder.site_number(node)];
    site.live += stack.live;
    site.allocated += stack.allocated;
  }
  space.finish();
}

}  // namespace

void add_stacks(Profile& profile, StackBuilder& builder, AddressSpace& space,
                const std::vector<DumpedStack>& stacks) {
  add_dumped(profile, builder, space, stacks, false);
}

void add_heap_stacks(Profile& profile, StackBuilder& builder, AddressSpace& space,
                     const std::vector<DumpedStack>& stacks) {
  add_dumped(profile, builder, space, stacks, true);
}

}  // namespace memduel
