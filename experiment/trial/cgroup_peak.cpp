#include "experiment/trial/cgroup_peak.h"

namespace memduel {

void CgroupPeak::sample(std::int64_t now_ns, const TrialCgroup& group) {
  constexpr std::int64_t kInterval = 20'000'000;
  constexpr std::int64_t kNoticeable = 100;  // hundredth part
  if (now_ns < due_ns_) return;
  due_ns_ = now_ns + kInterval;
  const auto charged = charged_bytes_of(group.memory_dir);
  if (!charged || *charged <= largest_bytes_ + largest_bytes_ / kNoticeable) return;
  largest_bytes_ = *charged;
  parts_ = charged_parts_of(group.memory_dir);
}

}  // namespace memduel
