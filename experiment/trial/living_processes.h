// Where a trial's living processes are read.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

namespace memduel {

struct LivingProcesses {
  bool quick = false;  ///< a control group lists them; else all of /proc has to be read
  std::function<std::optional<std::vector<pid_t>>()> list;  ///< absent: nobody can tell any more
};

}  // namespace memduel
