#include <algorithm>
#include <array>
#include <stdexcept>

#include "memduel/memory.h"
#include "memory/figures.h"
#include "memory/memory_alarm.h"
#include "memory/memory_limit.h"

namespace memduel {
namespace {

void require_percent(const char* name, double value) {
  if (value >= 0 && value <= 100) return;  // false for NaN
  throw std::invalid_argument(std::string("PressureOptions.") + name + ": found " +
                              plain_number(value) + ", expected a percentage from 0 to 100");
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
           (reading.limit->group.empty() ? "this machine" : "its control group") + ")";
  if (reading.stall && reading.stall->some_percent > 0)
    text += ", tasks stood still for memory " + percentage(reading.stall->some_percent) +
            " of the time";
  return text + ": " + name_of(reading.level);
}

MemoryPressure::MemoryPressure(PressureOptions options) : options_(std::move(options)) {
  require_percent("warn_percent", options_.warn_percent);
  require_percent("critical_percent", options_.critical_percent);
  if (options_.stall_percent) require_percent("stall_percent", *options_.stall_percent);
  if (options_.critical_percent < options_.warn_percent)
    throw std::invalid_argument(
        "PressureOptions.critical_percent: found " + plain_number(options_.critical_percent) +
        ", expected no less than warn_percent, " + plain_number(options_.warn_percent));
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
