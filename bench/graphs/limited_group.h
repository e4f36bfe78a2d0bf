// A control group that allows the processes put into it little memory.
#pragma once

#include <cstdint>

#include "profilers/meters/cgroup.h"

namespace memduel {

class LimitedGroup {
 public:
  /// Makes it below this process's own group, which stays as it is. Throws Error(cannot_measure)
  /// where no memory group may be made or limited.
  explicit LimitedGroup(std::int64_t bytes);
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;
  /// Its processes must have ended.
  ~LimitedGroup();

  [[nodiscard]] const TrialCgroup& cgroup() const { return group_; }

 private:
  TrialCgroup group_;
};

}  // namespace memduel
