#include "experiment/supervision/role_allocators.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"
#include "experiment/trial/allocator_check.h"

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

void verify_allocators(const TrialPlan& plan, const TrialProcesses& processes,
                       TrialOutcome& outcome) {
  for (const SupervisedProcess& process : processes.started()) {
    const auto& required = process.spec().allocator;
    if (!required || process.pid == 0) continue;
    const WitnessLog log = read_witness_log(read_file(required->witness));
    const AllocatorFindings findings = judge_allocator(*required, own_process(process, plan), log);
    if (!findings.failure.empty())
      outcome.fail(fmt::format("{} {}", process.role(), findings.failure));
    else
      outcome.allocators[process.role()] = findings.library;
    for (const std::string& helper : findings.helpers)
      outcome.limitations.push_back(
          {"helper_without_allocator",
           fmt::format("a helper of {} ran without {}: {}", process.role(), required->name, helper),
           "its memory is in the numbers of the role; where it does the work, link it "
           "dynamically"});
  }
}

}  // namespace memduel
