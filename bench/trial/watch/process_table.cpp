#include "process_table.h"

#include <algorithm>
#include <utility>

namespace memduel {

std::vector<pid_t> ProcessTable::update(std::vector<ProcessLine> processes, pid_t self) {
  std::erase_if(processes, [&](const ProcessLine& process) {
    return is_dead(process) || process.pid == self;
  });
  std::ranges::sort(processes, [](const ProcessLine& a, const ProcessLine& b) {
    return a.started != b.started ? a.started < b.started : a.pid < b.pid;
  });
  const std::map<pid_t, ProcessLine> before = std::exchange(known_, {});
  std::vector<pid_t> living;
  for (const ProcessLine& process : processes) {
    known_[process.pid] = process;
    const auto earlier = before.find(process.pid);
    if (earlier == before.end() || earlier->second.started == process.started)
      living.push_back(process.pid);
  }
  return living;
}

ProcessOrigin ProcessTable::origin_of(pid_t pid) const {
  const auto process = known_.find(pid);
  return {process == known_.end() ? 0 : process->second.parent, std::nullopt, {}, std::nullopt};
}

}  // namespace memduel
