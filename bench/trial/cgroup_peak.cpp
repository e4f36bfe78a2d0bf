#include "experiment/trial/cgroup_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "experiment/marks/monotonic.h"
#include "memory/text_file.h"

namespace memduel {
namespace {

bool is_more(std::int64_t bytes, std::int64_t than) {
  constexpr std::int64_t kNoticeable = 100;  // hundredth part
  return bytes > than + than / kNoticeable;
}

/// Of anonymous and shared memory, page by page of every process.
std::int64_t resident_sum(const TrialCgroup& group) {
  std::int64_t sum = 0;
  for (const pid_t pid : processes_in(group)) {
    const std::string status = text_of(fmt::format("/proc/{}/status", pid));
    for (const char* part : {"RssAnon", "RssShmem"}) sum += sized_field(status, part).value_or(0);
  }
  return sum;
}

/// A group is charged with pages before it asks for them: up to 64 on each CPU (mm/memcontrol.c,
/// MEMCG_CHARGE_BATCH).
std::int64_t charged_ahead() {
  constexpr std::int64_t kBatch = 64 * 4096;
  return kBatch * std::thread::hardware_concurrency();
}

}  // namespace

void CgroupPeak::sample(std::int64_t now_ns, const TrialCgroup& group) {
  constexpr std::int64_t kInterval = 20'000'000;
  if (now_ns < due_ns_) return;
  due_ns_ = now_ns + kInterval;
  const auto charged = charged_bytes_of(group.memory_dir);
  if (!charged) return;
  const bool is_most = is_more(*charged, largest_bytes_);
  if (is_most || *charged > (shared_once_ ? shared_once_->bytes : 0)) {
    const CgroupParts parts = charged_parts_of(group.memory_dir);
    if (is_most) {
      largest_bytes_ = *charged;
      parts_ = parts;
    }
    take(parts);
  }
  count_again(now_ns, group);
}

void CgroupPeak::take(const CgroupParts& parts) {
  if (!parts.anon || !parts.shmem) return;
  if (!shared_once_) shared_once_.emplace();
  shared_once_->bytes = std::max(shared_once_->bytes, *parts.anon + *parts.shmem);
  take_besides(parts);
}

/// A fork charges nothing, so that it is not the charge that says when to look.
void CgroupPeak::count_again(std::int64_t now_ns, const TrialCgroup& group) {
  constexpr std::int64_t kInterval = 50'000'000;
  constexpr std::int64_t kRestPerLook = 200;
  if (!shared_once_ || now_ns < count_due_ns_) return;
  const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const CgroupParts parts = charged_parts_of(group.memory_dir);
  const std::int64_t again = resident_sum(group) - parts.anon.value_or(0) - parts.shmem.value_or(0);
  shared_once_->counted_again = std::max(shared_once_->counted_again, again);
  const std::int64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  count_due_ns_ = now_ns + std::max(kInterval, kRestPerLook * cost);
}

void CgroupPeak::take_besides(const CgroupParts& parts) {
  const std::int64_t besides = parts.file.value_or(0) + parts.kernel.value_or(0) + charged_ahead();
  shared_once_->besides = std::max(shared_once_->besides, besides);
}

void CgroupPeak::end(const TrialCgroup& group) {
  if (shared_once_) take_besides(charged_parts_of(group.memory_dir));
}

}  // namespace memduel
