// What the trial's control group was charged with when it was charged most.
#pragma once

#include <cstdint>

#include "memory/cgroup_memory.h"
#include "profilers/meters/cgroup.h"

namespace memduel {

class CgroupPeak {
 public:
  /// Reads what is charged (10 us), and its parts when that is more than before by 1 % (50 us); at
  /// most once in 20 ms.
  void sample(std::int64_t now_ns, const TrialCgroup& group);

  /// At the largest sample; empty where there is no group.
  [[nodiscard]] const CgroupParts& parts() const { return parts_; }

 private:
  std::int64_t due_ns_ = 0;
  std::int64_t largest_bytes_ = 0;
  CgroupParts parts_;
};

}  // namespace memduel
