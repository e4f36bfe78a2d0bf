#include "workloads/fine_tuning/memory_watch.h"

#include <utility>

#include "memduel/memory.h"

namespace memduel {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

}  // namespace

MemoryWatch::MemoryWatch(const FineTuningSwitches& switches, ReadResident read)
    : threshold_(switches.memory_threshold_mb * kMebibyte),
      from_(switches.memory_baseline),
      read_(std::move(read)),
      baseline_(read_()) {}

void MemoryWatch::trial_begins() {
  if (from_ == MemoryBaseline::trial) baseline_ = read_();
}

std::optional<std::int64_t> MemoryWatch::growth() const {
  const std::optional<std::int64_t> now = read_();
  if (!now || !baseline_) return std::nullopt;
  return *now - *baseline_;
}

bool MemoryWatch::is_above() const {
  const std::optional<std::int64_t> grown = growth();
  return grown && *grown > threshold_;
}

std::optional<std::int64_t> resident_bytes() {
  return memory_info({.pss = false}).rss_bytes;
}

}  // namespace memduel
