#include "experiment/trial/exit_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace memduel {

bool ended_well(const ProcessSpec& spec, const ExitRecord& exit, const ExitContext& context) {
  if (exit.signal) {
    return context.asked_to_stop && (*exit.signal == SIGTERM || *exit.signal == SIGKILL);
  }
  const auto& allowed = spec.exit_statuses;
  const bool is_allowed = std::ranges::find(allowed, *exit.status) != allowed.end();
  if (context.asked_to_stop)
    return is_allowed || context.after_last_round || *exit.status == 128 + SIGTERM;
  return is_allowed && context.was_ready;
}

std::string describe_exit(const ExitRecord& exit, const ExitContext& context) {
  const std::string round =
      context.round ? fmt::format(" in round {}", *context.round) : std::string();
  if (exit.signal == SIGKILL && context.killed_for_memory) {
    return kKilledForMemory + round;
  }
  if (exit.signal) {
    const char* meaning = sigdescr_np(*exit.signal);
    return fmt::format("was ended by signal {} ({}){}", *exit.signal,
                       meaning != nullptr ? meaning : "unknown", round);
  }
  const std::string memory =
      context.killed_for_memory ? " after the kernel killed one of its processes for memory" : "";
  if (!context.was_ready) {
    return fmt::format("exited with status {} before it was ready{}; waited for {}", *exit.status,
                       memory, context.waited_for);
  }
  return fmt::format("exited with status {}{}{}", *exit.status, round, memory);
}

}  // namespace memduel
