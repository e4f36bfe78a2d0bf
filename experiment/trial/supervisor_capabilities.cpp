#include "experiment/trial/supervisor_capabilities.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"
#include "experiment/trial/launcher_client.h"
#include "profilers/meters/cgroup.h"

namespace memduel {
namespace {

Capability launcher() {
  try {
    return {"launcher", true, find_launcher().string(), {}};
  } catch (const Error& error) {
    return {"launcher", false, error.message(), "build or install memduel-launcher beside memduel"};
  }
}

Capability subreaper() {
  int on = 0;
  if (prctl(PR_GET_CHILD_SUBREAPER, &on) == 0) {
    return {"subreaper", true, "daemonised processes can be found", {}};
  }
  return {"subreaper", false, "the kernel knows no child subreapers", "Linux 3.4 or later"};
}

Capability cgroup(const TrialCgroup& group) {
  if (group.exists()) {
    const std::string memory = group.memory_dir.empty()
                                   ? "no memory controller: peak_cgroup_bytes is absent"
                                   : "with memory accounting";
    return {"cgroup", true, "every trial gets its own group, " + memory, {}};
  }
  return {"cgroup", false, "no control group may be made here; leftovers are found by /proc",
          "run as root, or in a delegated group: systemd-run --user --scope -p Delegate=yes"};
}

Capability oom_counter(const TrialCgroup& group) {
  if (oom_kills_of(group)) {
    return {"oom_counter", true, "kills for memory are counted per trial", {}};
  }
  if (oom_kills_anywhere()) {
    return {"oom_counter", true, "kills for memory are counted machine-wide", {}};
  }
  return {"oom_counter", false, "the kernel counts no kills for memory",
          "Linux 4.13 or later; without it such a trial is reported as failed"};
}

}  // namespace

std::vector<Capability> supervision_capabilities() {
  const TrialCgroup group = create_cgroup(fmt::format("memduel-doctor-{}", getpid()));
  std::vector<Capability> capabilities = {launcher(), subreaper(), cgroup(group),
                                          oom_counter(group)};
  remove_cgroup(group);
  return capabilities;
}

}  // namespace memduel
