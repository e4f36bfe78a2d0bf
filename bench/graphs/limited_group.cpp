#include "bench/graphs/limited_group.h"

#include <unistd.h>

#include <string>
#include <system_error>

#include "base/error.h"

namespace memduel {

LimitedGroup::LimitedGroup(std::int64_t bytes)
    : group_(create_cgroup("memduel-limited-" + std::to_string(getpid()))) {
  const int error = limit_cgroup(group_, bytes);
  if (error == 0) return;
  remove_cgroup(group_);
  throw Error(ExitCode::cannot_measure,
              group_.memory_dir.empty()
                  ? "cannot make a control group with a memory controller"
                  : "cannot limit its memory: " + std::generic_category().message(error),
              group_.memory_dir, "run it as root, in a group that may have groups below it");
}

LimitedGroup::~LimitedGroup() {
  remove_cgroup(group_);
}

}  // namespace memduel
