#include "memory/memory_limit.h"

#include <algorithm>
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

/// Of a line "some avg10=1.25 avg60=…": the kernel writes two decimals, in every locale.
std::optional<double> ten_seconds_of(std::string_view kind, std::string_view text) {
  constexpr std::string_view kKey = " avg10=";
  const std::size_t line = text.find(kind);
  if (line == std::string_view::npos || !text.substr(line + kind.size()).starts_with(kKey))
    return std::nullopt;
  text.remove_prefix(line + kind.size() + kKey.size());
  const std::size_t point = text.find_first_not_of("0123456789");
  if (point == std::string_view::npos || text[point] != '.') return std::nullopt;
  const auto whole = number_in(text);
  const auto hundredths = number_in(text.substr(point + 1));
  if (!whole || !hundredths) return std::nullopt;
  return static_cast<double>(*whole) + static_cast<double>(*hundredths) / 100;
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
  const auto some = ten_seconds_of("some", text);
  const auto full = ten_seconds_of("full", text);
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
