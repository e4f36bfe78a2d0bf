// Numbers in the kernel's text files, and the memory that a control group is charged with.

#include "memory/kernel_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <sstream>

namespace memduel {
namespace {

/// What comes after `name` at the start of the first line that begins with it.
std::optional<std::string_view> line_after(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).starts_with(name)) return text.substr(name.size(), end - name.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

}  // namespace

KernelText read_kernel_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {{}, errno};
  KernelText all;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) all.error = errno;
    if (got <= 0) break;
    all.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return all;
}

std::string text_of(const std::string& path) {
  return read_kernel_file(path).text;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::int64_t> keyed_number(std::string_view text, std::string_view key) {
  const auto value = line_after(text, std::string(key) + " ");
  return value ? number_in(*value) : std::nullopt;
}

std::optional<std::int64_t> size_in(std::string_view text) {
  constexpr std::int64_t kKib = 1024;
  if (!text.ends_with(" kB")) return std::nullopt;
  const auto kib = number_in(text.substr(text.find_first_not_of(" \t")));
  if (!kib || *kib < 0 || *kib > INT64_MAX / kKib) return std::nullopt;
  return *kib * kKib;
}

std::optional<std::int64_t> sized_field(std::string_view text, std::string_view name) {
  const auto value = line_after(text, std::string(name) + ":");
  return value ? size_in(*value) : std::nullopt;
}

namespace {

bool holds_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The group path of one hierarchy in /proc/self/cgroup: "4:memory:/a/b" or "0::/a/b".
std::optional<std::string> membership_path(const std::string& membership,
                                           const std::string& controller) {
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : holds_word(names, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string own_cgroup_directory(const std::string& mountinfo, const std::string& membership,
                                 const std::string& controller) {
  const auto path = membership_path(membership, controller);
  if (!path) return {};
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, root, mount_point, word, type, source, options;
    words >> skipped >> skipped >> skipped >> root >> mount_point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool wanted = controller.empty() ? type == "cgroup2"
                                           : type == "cgroup" && holds_word(options, controller);
    if (!wanted) continue;
    // In a container the mount shows a part of the hierarchy: its root is cut off the path.
    std::string below = *path;
    if (root != "/" && below.starts_with(root)) below.erase(0, root.size());
    return below == "/" ? mount_point : mount_point + below;
  }
  return {};
}

std::optional<std::int64_t> charged_bytes_of(const std::string& group) {
  if (group.empty()) return std::nullopt;
  if (const auto v2 = number_in(text_of(group + "/memory.current"))) return v2;
  return number_in(text_of(group + "/memory.usage_in_bytes"));
}

CgroupParts charged_parts_of(const std::string& group) {
  if (group.empty()) return {};
  CgroupParts parts = parse_memory_stat(text_of(group + "/memory.stat"));
  if (!parts.kernel) {
    parts.kernel = number_in(text_of(group + "/memory.kmem.usage_in_bytes"));
  }
  return parts;
}

CgroupParts parse_memory_stat(const std::string& text) {
  CgroupParts parts;
  // Version 1 has the sums over groups below under names of their own.
  const bool is_first_version = keyed_number(text, "total_rss").has_value();
  parts.anon = keyed_number(text, is_first_version ? "total_rss" : "anon");
  parts.file = keyed_number(text, is_first_version ? "total_cache" : "file");
  parts.shmem = keyed_number(text, is_first_version ? "total_shmem" : "shmem");
  parts.kernel = keyed_number(text, "kernel");
  if (parts.file && parts.shmem) {
    parts.file = std::max<std::int64_t>(0, *parts.file - *parts.shmem);
  }
  return parts;
}

}  // namespace memduel
