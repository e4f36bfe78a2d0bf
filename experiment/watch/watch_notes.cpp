#include "experiment/watch/watch_notes.h"

#include <fmt/format.h>

#include "base/run_data.h"
#include "base/text.h"
#include "experiment/contract/trial_plan.h"

namespace memduel {
namespace {

std::string end_of_command(const ExitRecord& exit, bool for_memory) {
  if (for_memory) return kKilledForMemory;
  return exit.status ? fmt::format("exited with status {}", *exit.status)
                     : fmt::format("was ended by signal {}", exit.signal.value_or(0));
}

}  // namespace

Note joined_late(const WatchTarget& target) {
  return {"joined_late",
          fmt::format("pid {} had run for {} when the watch began: that time is not in the numbers",
                      target.pid.value_or(0), format_seconds(target.seconds_before.value_or(0))),
          "memduel watch -- CMD watches from the start"};
}

Note process_gone(const GoneProcess& gone) {
  const std::string after = format_seconds(gone.after_seconds);
  const std::string goes_on =
      gone.left == 0 ? "" : fmt::format("; the watch goes on with {} of {}", gone.left, gone.of);
  const std::string how = "how a process that memduel did not start ended is not known";
  if (!gone.replaced)
    return {"process_ended", fmt::format("{} ended after {}{}", gone.name, after, goes_on), how};
  return {"pid_reused",
          fmt::format("{} ended, and its number is another process's by now, which is not watched "
                      "(seen after {}){}",
                      gone.name, after, goes_on),
          how};
}

Note command_failed(const std::string& name, const ExitRecord& exit, bool for_memory,
                    std::optional<int> round) {
  return {for_memory ? "killed_for_memory" : "command_failed",
          fmt::format("{} {}{}", name, end_of_command(exit, for_memory),
                      round ? fmt::format(" in round {}", *round) : ""),
          "growth is judged from the rounds that there are"};
}

Note not_interleaved() {
  return {"not_interleaved",
          "one trial of one arm, watched as it ran: nothing was run in turns with it",
          "memduel compare --a 'CMD' --b 'CMD' duels two commands"};
}

Note marks_of_several_processes() {
  return {kMarksOfSeveralProcesses,
          "more than one process sent marks; those of the first one count", ""};
}

Note processes_left_running(std::size_t descendants) {
  return {"processes_left_running",
          fmt::format("{} descendants were still running when the command ended", descendants),
          "memduel watch --pid watches them"};
}

}  // namespace memduel
