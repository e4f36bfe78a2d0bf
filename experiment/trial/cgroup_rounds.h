// The most that a trial's control group was charged in each round.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/descriptor.h"
#include "experiment/marks/marks.h"
#include "profilers/meters/cgroup.h"

namespace memduel {

/// Between two marks as they arrive, by the kernel's own high-water mark, which begins anew at
/// each: the group's in version 1, this descriptor's in version 2 (from Linux 6.12 on). Nothing is
/// known without a group, and under a kernel that cannot.
class CgroupRounds {
 public:
  explicit CgroupRounds(const TrialCgroup& group);

  /// A mark of the role whose rounds are the job's. A round that has no end ends where the next
  /// one begins.
  void take(const Mark& mark);

  /// In bytes, by round.
  [[nodiscard]] const std::map<int, std::int64_t>& peaks() const { return peaks_; }
  /// Of all that was read, between rounds too: version 1 has forgotten it by the trial's end.
  [[nodiscard]] std::int64_t largest_bytes() const { return largest_bytes_; }

 private:
  std::optional<std::int64_t> begin_anew();

  Descriptor high_water_;
  bool is_second_version_ = false;
  std::optional<int> running_;
  std::map<int, std::int64_t> peaks_;
  std::int64_t largest_bytes_ = 0;
};

}  // namespace memduel
