// All processes of the machine from look to look: whose descendants are of a watch is found in it.
#pragma once

#include <sys/types.h>

#include <map>
#include <vector>

#include "memory/proc_files.h"
#include "role_members.h"

namespace memduel {

class ProcessTable {
 public:
  /// Takes all processes as they are now. Returns those that live, parents before their children,
  /// without `self`, and without those whose number was another process's at the last look (they
  /// started at another time): whoever knew the number forgets it first.
  std::vector<pid_t> update(std::vector<ProcessLine> processes, pid_t self);

  /// At the last look.
  [[nodiscard]] ProcessOrigin origin_of(pid_t pid) const;

 private:
  std::map<pid_t, ProcessLine> known_;
};

}  // namespace memduel
