#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "trial/processes.h"

namespace memduel {
namespace {

/// All below `root` but dead ones; `children` gives those of a process.
template <class Children>
std::vector<pid_t> walk(pid_t root, Children children) {
  std::vector<pid_t> found;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    for (const ProcessLine& child : children(parent)) {
      open.push_back(child.pid);
      if (!is_dead(child)) found.push_back(child.pid);
    }
  }
  return found;
}

}  // namespace

double cpu_seconds_of(const rusage& usage) {
  const auto microseconds = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
  };
  return static_cast<double>(microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) * 1e-6;
}

std::int64_t max_rss_bytes_of(const rusage& usage) {
  constexpr std::int64_t kKib = 1024;
  return usage.ru_maxrss * kKib;
}

ExitRecord exit_record_of(int status, const rusage& usage) {
  ExitRecord record;
  record.t_ns = monotonic_ns();
  if (WIFSIGNALED(status)) {
    record.signal = WTERMSIG(status);
  } else {
    record.status = WEXITSTATUS(status);
  }
  record.cpu_seconds = cpu_seconds_of(usage);
  record.max_rss_bytes = max_rss_bytes_of(usage);
  record.minor_faults = usage.ru_minflt;
  record.major_faults = usage.ru_majflt;
  return record;
}

std::vector<pid_t> descendants_of(pid_t root, const std::vector<ProcessLine>& processes) {
  std::map<pid_t, std::vector<ProcessLine>> children;
  for (const ProcessLine& process : processes) children[process.parent].push_back(process);
  return walk(root, [&](pid_t parent) { return children[parent]; });
}

std::vector<pid_t> descendants_of(pid_t root) {
  static const bool are_listed = access("/proc/thread-self/children", R_OK) == 0;
  return are_listed ? walk(root, children_of) : descendants_of(root, all_processes());
}

std::vector<pid_t> marked_processes(const std::string& trial,
                                    const std::vector<ProcessLine>& processes) {
  std::vector<pid_t> marked;
  for (const ProcessLine& process : processes) {
    if (!is_dead(process) && environment_of(process.pid, kTrialVariable) == trial) {
      marked.push_back(process.pid);
    }
  }
  return marked;
}

}  // namespace memduel
