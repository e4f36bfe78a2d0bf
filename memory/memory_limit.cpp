#include "memory/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "memory/cgroup_memory.h"
#include "memory/text_file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// The tightest limit in the files of this name from `directory` upwards: a group without one may
/// lie in a group with one. "max" and version 1's largest number are none.
void tighten(std::optional<MemoryLimit>& limit, fs::path directory, const char* file) {
  for (; directory.has_relative_path(); directory = directory.parent_path()) {
    const auto bytes = number_in(text_of(directory / file));
    if (bytes && (!limit || *bytes < limit->bytes)) limit = {*bytes, directory.string()};
  }
}

/// Of `process`, a number or "self"; empty without such a group.
fs::path group_directory(const std::string& process, const char* controller, const fs::path& root) {
  const std::string own =
      own_cgroup_directory(text_of(root / "proc/self/mountinfo"),
                           text_of(root / "proc" / process / "cgroup"), controller);
  if (own.empty()) return {};
  auto below = fs::path(own).relative_path();
  if (!below.has_filename()) below = below.parent_path();
  return root / below;
}

/// The number after `key` in a line that begins with `kind`.
std::optional<double> share_in(std::string_view text, std::string_view kind, std::string_view key) {
  const std::size_t line = text.find(kind);
  if (line == std::string_view::npos) return std::nullopt;
  const std::size_t at = text.find(key, line);
  if (at == std::string_view::npos) return std::nullopt;
  double value = 0;
  const char* begin = text.data() + at + key.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<MemoryLimit> memory_limit_of(std::optional<pid_t> pid, const fs::path& root) {
  std::optional<MemoryLimit> limit;
  if (const auto bytes = sized_field(text_of(root / "proc/meminfo"), "MemTotal"))
    limit = {*bytes, ""};
  const std::string process = pid ? std::to_string(*pid) : "self";
  tighten(limit, group_directory(process, "", root), "memory.max");
  tighten(limit, group_directory(process, "memory", root), "memory.limit_in_bytes");
  return limit;
}

std::optional<std::int64_t> used_bytes_of(const MemoryLimit& limit, const fs::path& root) {
  if (limit.group.empty()) {
    const std::string machine = text_of(root / "proc/meminfo");
    const auto total = sized_field(machine, "MemTotal");
    const auto available = sized_field(machine, "MemAvailable");
    if (!total || !available) return std::nullopt;
    return *total - *available;
  }
  const auto charged = charged_bytes_of(limit.group);
  if (!charged) return std::nullopt;
  return std::max<std::int64_t>(0, *charged - charged_parts_of(limit.group).file.value_or(0));
}

std::optional<MemoryStall> parse_pressure(std::string_view text) {
  const auto some = share_in(text, "some", "avg10=");
  const auto full = share_in(text, "full", "avg10=");
  if (!some || !full) return std::nullopt;
  return MemoryStall{*some, *full, {}};
}

std::optional<MemoryStall> memory_stall(const fs::path& root) {
  const fs::path group = group_directory("self", "", root);
  if (!group.empty()) {
    if (auto stall = parse_pressure(text_of(group / "memory.pressure"))) {
      stall->group = group.string();
      return stall;
    }
  }
  return parse_pressure(text_of(root / "proc/pressure/memory"));
}

}  // namespace memduel
