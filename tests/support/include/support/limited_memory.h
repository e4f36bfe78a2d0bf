// A control group of a test's own that allows little memory, where such groups may be made.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

#include "memory/kernel_files.h"
#include "meters/cgroup.h"
#include "util/file.h"

namespace memduel {

/// Holds the test's own processes to a limit, where memory groups may be made.
class LimitedMemory {
 public:
  LimitedMemory() : group_(create_cgroup("memduel-test-" + std::to_string(getpid()))) {
    home_ = own_cgroup_directory(read_file("/proc/self/mountinfo"), read_file("/proc/self/cgroup"),
                                 "memory");
    if (usable()) {
      usable_ = limit_cgroup(group_, std::int64_t{256} << 20) == 0 &&
                join_cgroup({group_.memory_dir, {}}) == 0;
    }
  }
  LimitedMemory(const LimitedMemory&) = delete;
  LimitedMemory& operator=(const LimitedMemory&) = delete;
  ~LimitedMemory() {
    if (usable()) std::ofstream(home_ + "/cgroup.procs") << 0;
    remove_cgroup(group_);
  }
  [[nodiscard]] bool usable() const {
    return usable_ && !group_.memory_dir.empty() && group_.memory_dir != group_.kill_dir;
  }

 private:
  TrialCgroup group_;
  std::string home_;
  bool usable_ = true;
};

}  // namespace memduel
