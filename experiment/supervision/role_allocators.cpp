#include "experiment/supervision/role_allocators.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"

namespace memduel {
namespace {

OwnProcess own_process(const SupervisedProcess& process, const TrialPlan& plan) {
  const ProcessSpec& spec = process.spec();
  OwnProcess own{process.pid, spec.argv.front(), {}};
  if (own.program.find('/') != std::string::npos)
    own.program = ((spec.cwd.empty() ? plan.trial_dir : spec.cwd) / own.program).lexically_normal();
  const char* inherited = std::getenv("PATH");
  const auto path = spec.env.find("PATH");
  if (inherited != nullptr) own.path = inherited;
  if (path != spec.env.end()) own.path = path->second;
  return own;
}

}  // namespace

void RoleAllocators::look(std::int64_t now_ns) {
  if (plan_.processes.empty() || !plan_.processes.front().allocator || !watch_.due(now_ns)) return;
  for (const SupervisedProcess& process : processes_.started()) {
    if (process.state != SupervisedProcess::State::running) continue;
    for (const pid_t pid : process.members) {
      if (const auto wrong = watch_.look(pid, *process.spec().allocator))
        outcome_.fail_of(process, *wrong);
    }
  }
  for (const auto& [pid, role] : processes_.matched()) {
    if (const auto wrong = watch_.look(pid, *plan_.processes.front().allocator))
      outcome_.fail(fmt::format("{} {}", role, *wrong));
  }
}

void RoleAllocators::verify() {
  for (const SupervisedProcess& process : processes_.started()) {
    const auto& required = process.spec().allocator;
    if (!required || process.pid == 0) continue;
    const WitnessLog log = read_witness_log(read_file(required->witness));
    const AllocatorFindings findings = judge_allocator(*required, own_process(process, plan_), log);
    if (!findings.failure.empty())
      outcome_.fail(fmt::format("{} {}", process.role(), findings.failure));
    else
      outcome_.allocators[process.role()] = findings.library;
    for (const std::string& helper : findings.helpers)
      outcome_.limitations.push_back(
          {"helper_without_allocator",
           fmt::format("a helper of {} ran without {}: {}", process.role(), required->name, helper),
           "it lived for less than a second"});
  }
}

}  // namespace memduel
