// Memory limits and stalls, and the pressure that follows from both.

#include "memory/memory_limit.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "figures.h"
#include "memduel/memory.h"
#include "memory/kernel_files.h"

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

namespace {

void require_percent(const char* name, double value) {
  if (value >= 0 && value <= 100) return;  // false for NaN
  throw std::invalid_argument(std::string("PressureOptions.") + name +
                              ": expected a percentage from 0 to 100, found " +
                              plain_number(value));
}

}  // namespace

const char* name_of(MemoryLevel level) {
  constexpr std::array<const char*, 3> kNames = {"normal", "warning", "critical"};
  return kNames.at(static_cast<std::size_t>(level));
}

std::optional<double> PressureReading::used_ratio() const {
  if (!limit || !used_bytes || limit->bytes <= 0) return std::nullopt;
  return static_cast<double>(*used_bytes) / static_cast<double>(limit->bytes);
}

std::string to_string(const PressureReading& reading) {
  std::string text = "no memory limit can be read";
  if (const auto used = reading.used_ratio())
    text = percentage(100 * *used) + " of " + mebibytes(reading.limit->bytes) + " used (" +
           (reading.limit->group.empty() ? "this machine" : "its cgroup") + ")";
  if (reading.stall && reading.stall->some_percent > 0)
    text += ", tasks stalled on memory " + percentage(reading.stall->some_percent) + " of the time";
  return text + ": " + name_of(reading.level);
}

MemoryPressure::MemoryPressure(PressureOptions options) : options_(std::move(options)) {
  require_percent("warn_percent", options_.warn_percent);
  require_percent("critical_percent", options_.critical_percent);
  if (options_.stall_percent) require_percent("stall_percent", *options_.stall_percent);
  if (options_.critical_percent < options_.warn_percent)
    throw std::invalid_argument(
        "PressureOptions.critical_percent: expected at least warn_percent, " +
        plain_number(options_.warn_percent) + ", found " + plain_number(options_.critical_percent));
}

PressureReading MemoryPressure::read() const noexcept {
  PressureReading reading;
  try {
    reading.limit = memory_limit_of(std::nullopt, options_.root);
    if (reading.limit) reading.used_bytes = used_bytes_of(*reading.limit, options_.root);
    reading.stall = memory_stall(options_.root);
  } catch (...) {  // no memory for a path: nothing is known
    reading = {};
  }
  if (const auto used = reading.used_ratio())
    reading.level = level_of(*used, options_.warn_percent / 100, options_.critical_percent / 100);
  if (reading.stall && options_.stall_percent &&
      reading.stall->some_percent >= *options_.stall_percent)
    reading.level = std::max(reading.level, MemoryLevel::warning);
  return reading;
}

}  // namespace memduel
