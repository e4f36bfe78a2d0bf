// What a process may use before something is killed for memory: the limit of its own control
// group where it has one, else the memory of the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace memduel {

struct MemoryLimit {
  std::int64_t bytes = 0;
  std::string group;  ///< the directory of the control group; empty: the whole machine
};

/// The tightest limit of the control groups around `pid`, where one is tighter than the machine;
/// else the machine's memory. Absent when /proc tells neither.
/// @param root where proc/ and sys/ lie; other than "/" in tests.
std::optional<MemoryLimit> memory_limit_of(pid_t pid, const std::filesystem::path& root = "/");

/// What of the limit is used and not given back on demand: what the group is charged without its
/// page cache, or the machine's memory without what the kernel calls available.
std::optional<std::int64_t> used_bytes_of(const MemoryLimit& limit,
                                          const std::filesystem::path& root = "/");

}  // namespace memduel
