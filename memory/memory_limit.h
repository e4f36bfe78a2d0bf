// What a process may use before something is killed for memory: the limit of its own control
// group where it has one, else the memory of the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "memduel/memory.h"

namespace memduel {

/// The tightest limit of the control groups around `pid`, where one is tighter than the machine;
/// else the machine's memory. Absent when /proc tells neither.
/// @param pid absent: this process. @param root where proc/ and sys/ lie; other than "/" in tests.
std::optional<MemoryLimit> memory_limit_of(std::optional<pid_t> pid,
                                           const std::filesystem::path& root = "/");

/// What of the limit is used and not given back on demand: what the group is charged without its
/// page cache, or the machine's memory without what the kernel calls available.
std::optional<std::int64_t> used_bytes_of(const MemoryLimit& limit,
                                          const std::filesystem::path& root = "/");

/// Of the control group of this process (version 2 alone has such numbers), else of the machine.
/// Absent where the kernel does not count.
std::optional<MemoryStall> memory_stall(const std::filesystem::path& root = "/");

/// The numbers in the text of memory.pressure or /proc/pressure/memory; absent when it is no such
/// text.
std::optional<MemoryStall> parse_pressure(std::string_view text);

}  // namespace memduel
