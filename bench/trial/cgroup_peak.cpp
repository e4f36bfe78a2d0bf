// What a trial's control group was charged with: the peak of the trial, without page cache too, and
// the peak of each round.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <thread>

#include "memory/kernel_files.h"
#include "memory/proc_files.h"
#include "trial/processes.h"
#include "trial_metering.h"

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
    if (const auto memory = process_memory(pid))
      sum += memory->rss_anon.value_or(0) + memory->rss_shmem.value_or(0);
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

CgroupRounds::CgroupRounds(const TrialCgroup& group) {
  if (group.memory_dir.empty()) return;
  const auto open_file = [&](const char* name) {
    return ::open((group.memory_dir + name).c_str(), O_RDWR | O_CLOEXEC);
  };
  high_water_ = Descriptor(open_file("/memory.peak"));
  is_second_version_ = high_water_.get() >= 0;
  if (!is_second_version_) high_water_ = Descriptor(open_file("/memory.max_usage_in_bytes"));
}

/// Returns the most since the last time. A kernel that takes no reset is not asked again.
std::optional<std::int64_t> CgroupRounds::begin_anew() {
  if (high_water_.get() < 0) return std::nullopt;
  std::array<char, 32> text{};
  std::int64_t bytes = 0;
  const ssize_t length = ::pread(high_water_.get(), text.data(), text.size(), 0);
  const bool is_number =
      length > 0 && std::from_chars(text.data(), text.data() + length, bytes).ec == std::errc();
  const std::string_view reset = is_second_version_ ? "reset" : "0";
  const bool is_reset = ::pwrite(high_water_.get(), reset.data(), reset.size(), 0) > 0;
  if (!is_number || !is_reset) {
    high_water_.reset();
    return std::nullopt;
  }
  largest_bytes_ = std::max(largest_bytes_, bytes);
  return bytes;
}

void CgroupRounds::take(const Mark& mark) {
  const bool begins = mark.kind == Mark::Kind::round_begin;
  if (!begins && mark.kind != Mark::Kind::round_end) return;
  const auto bytes = begin_anew();
  if (running_ && bytes) peaks_[*running_] = *bytes;
  running_.reset();
  if (begins) running_ = mark.round;
}

}  // namespace memduel
