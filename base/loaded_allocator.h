// Which allocator serves this process's malloc, seen from the symbols that are loaded: nothing is
// linked. Needs libc alone, so that a library for other people's programs can use it.
#pragma once

#include <optional>
#include <string_view>

namespace memduel {

enum class Allocator { unknown, glibc, jemalloc, tcmalloc, mimalloc };

/// "unknown", "glibc", "jemalloc", "tcmalloc" or "mimalloc".
const char* name_of(Allocator allocator);

/// The allocator of that name; none is called "unknown".
std::optional<Allocator> allocator_named(std::string_view name);

/// Which library malloc comes from, through a recorder that stands in front of it. A library whose
/// symbols are there but whose malloc is not used does not count; a program that brings its own
/// malloc is unknown. The answer of the first call is kept: it cannot change while a process runs.
Allocator loaded_allocator();

}  // namespace memduel
