// The kernel's text files about memory: /proc and control groups (version 1 and 2), and the numbers
// in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

/// The whole text, or what there is of it before `error`, an errno.
struct KernelText {
  std::string text;
  int error = 0;
};
KernelText read_kernel_file(const std::string& path);

/// The same text; empty when the file cannot be read.
std::string text_of(const std::string& path);

/// The number that `text` begins with; absent for "max" and for nothing.
std::optional<std::int64_t> number_in(std::string_view text);

/// The number after `key` at the start of a line: "oom_kill 3".
std::optional<std::int64_t> keyed_number(std::string_view text, std::string_view key);

/// Bytes of "  1234 kB"; absent without the unit, and for more than fits.
std::optional<std::int64_t> size_in(std::string_view text);

/// Bytes of a line "NAME:  1234 kB" of status, smaps_rollup or meminfo.
std::optional<std::int64_t> sized_field(std::string_view text, std::string_view name);

/// What a group is charged with, by kind; file is page cache without shmem.
struct CgroupParts {
  std::optional<std::int64_t> anon;
  std::optional<std::int64_t> file;
  std::optional<std::int64_t> shmem;  ///< shared memory and tmpfs
  std::optional<std::int64_t> kernel;
};

/// The memory that is charged now to the group with this directory, and its parts; absent for an
/// empty name.
std::optional<std::int64_t> charged_bytes_of(const std::string& group);
CgroupParts charged_parts_of(const std::string& group);

/// The parts in the text of memory.stat, of version 1 or 2; version 1 has no kernel in it.
CgroupParts parse_memory_stat(const std::string& text);

/// Where below the mounted hierarchy the file /proc/self/cgroup says we are: `mountinfo` and
/// `membership` are the texts of /proc/self/mountinfo and /proc/self/cgroup; `controller` is
/// "memory" for v1 or empty for v2. Empty when that hierarchy is not mounted.
std::string own_cgroup_directory(const std::string& mountinfo, const std::string& membership,
                                 const std::string& controller);

}  // namespace memduel
