#include "experiment/trial/recorder_harm.h"

#include <csignal>
#include <string_view>

#include "experiment/marks/log_tail.h"

namespace memduel {
namespace {

/// AddressSanitizer's words since 2014 (asan_linux.cpp, AsanCheckDynamicRTPrereqs).
constexpr std::string_view kSanitizerWords = "runtime does not come first in initial library list";

std::string harm_to(const RoleData& role, const TrialPlan& plan) {
  const bool by_filter = role.exit_signal == SIGSYS || role.exit_status == 128 + SIGSYS;
  if (by_filter)
    return "its filter of system calls (seccomp) refuses what the recorder asks of the system";
  const std::string words = log_tail(logs_of(plan).file(role.role, "stderr"), 100, 1 << 16);
  if (words.find(kSanitizerWords) == std::string::npos) return {};
  return "it runs a program that is built with a sanitizer, whose own interposer must come first";
}

}  // namespace

std::map<std::string, std::string> harmed_by_recorder(const TrialPlan& plan, const TrialRun& run) {
  std::map<std::string, std::string> harmed;
  if (run.trial.status != TrialStatus::failed) return harmed;
  for (const ProcessSpec& process : plan.processes) {
    if (!process.heap_dir) continue;
    for (const RoleData& role : run.trial.roles) {
      if (role.role != process.role) continue;
      if (std::string why = harm_to(role, plan); !why.empty()) harmed[role.role] = std::move(why);
    }
  }
  return harmed;
}

}  // namespace memduel
