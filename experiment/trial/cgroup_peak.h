// What the trial's control group was charged with when it was charged most, and the most of it that
// was no page cache.
#pragma once

#include <cstdint>
#include <optional>

#include "experiment/contract/trial_trace.h"
#include "memory/cgroup_memory.h"
#include "profilers/meters/cgroup.h"

namespace memduel {

class CgroupPeak {
 public:
  /// Reads what is charged (10 us), and its parts where that may be more than before (50 us); at
  /// most once in 20 ms. Its processes (30 us each) are read at a two-hundredth of a CPU at most.
  void sample(std::int64_t now_ns, const TrialCgroup& group);

  /// What has been cached stays charged when the processes are gone: a file that was written last
  /// is seen then.
  void end(const TrialCgroup& group);

  /// At the largest sample; empty where there is no group.
  [[nodiscard]] const CgroupParts& parts() const { return parts_; }

  /// Absent where there is no group, or its memory has no parts.
  [[nodiscard]] const std::optional<SharedOnce>& shared_once() const { return shared_once_; }

 private:
  void take(const CgroupParts& parts);
  void count_again(std::int64_t now_ns, const TrialCgroup& group);
  void take_besides(const CgroupParts& parts);

  std::int64_t due_ns_ = 0;
  std::int64_t largest_bytes_ = 0;
  CgroupParts parts_;
  std::optional<SharedOnce> shared_once_;
  std::int64_t count_due_ns_ = 0;
};

}  // namespace memduel
