// The stacks of a dump that lists return addresses first and the mapped files last (gperftools,
// jemalloc), without the frames that are the allocator's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "address_space.h"
#include "memory/text_cursor.h"
#include "profile/profile.h"
#include "readers/plain_source.h"
#include "stack_builder.h"

namespace memduel {

/// How many of a stack's innermost frames belong to the allocator, as pprof and jeprof drop them:
/// all up to the outermost that lies in its library or has the name of one of its entries.
/// `locations` are the profile's, innermost first.
std::size_t allocator_frames(const Profile& profile, const std::vector<std::uint32_t>& locations);

/// No program has more bytes than that; sums of larger numbers would not fit.
inline constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 48;

/// The number that comes next in a line of the dump. Throws Error(io) for none, or one too large.
std::uint64_t number_at(const PlainSource& source, TextCursor& cursor);
/// Passes over what comes next. Throws Error(io) for something else.
void expect_at(const PlainSource& source, TextCursor& cursor, std::string_view wanted);
/// Throws Error(io) with line and byte.
[[noreturn]] void fail_at(const PlainSource& source, const TextCursor& cursor,
                          const std::string& problem);

/// The return addresses in the rest of a line, as those of the calls. Throws Error(io) for
/// something else.
std::vector<std::uint64_t> calls_at(const PlainSource& source, TextCursor& cursor);

struct DumpedStack {
  std::vector<std::uint64_t>
      calls;  ///< addresses of the calls (not where they return), innermost first
  Estimate live;
  Estimate allocated;
};

/// What `count` sampled blocks of `bytes` together stand for, where a block of size z is sampled
/// with p = 1 - exp(-z / interval): each count and byte is 1 / p of them, with p for their mean
/// size, because a dump tells no more (as jeprof and pprof do). Exact for an interval of 1 or less.
Estimate unbiased(std::uint64_t count, std::uint64_t bytes, double interval);

/// Adds the stacks to the profile's sites.
void add_stacks(Profile& profile, StackBuilder& builder, AddressSpace& space,
                const std::vector<DumpedStack>& stacks);
/// The same of a heap: without the allocator's own frames, so that a stack ends in who asked for
/// the block.
void add_heap_stacks(Profile& profile, StackBuilder& builder, AddressSpace& space,
                     const std::vector<DumpedStack>& stacks);

}  // namespace memduel
