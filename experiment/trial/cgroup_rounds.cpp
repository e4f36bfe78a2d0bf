#include "experiment/trial/cgroup_rounds.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace memduel {

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
