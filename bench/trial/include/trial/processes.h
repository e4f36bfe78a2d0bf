// Who is running: /proc as the launcher and the supervisor need it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

struct ProcessLine {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';  ///< as in /proc/PID/stat; Z and X are dead
  /// Clock ticks after boot: with the number it tells a process from another that got the number
  /// later. Absent when the line ends before it.
  std::optional<std::uint64_t> started = std::nullopt;
};

bool is_dead(const ProcessLine& process);

/// The parts of one /proc/PID/stat line; nothing when it is not such a line. The command name in it
/// may hold spaces and parentheses.
std::optional<ProcessLine> parse_process_line(std::string_view stat);

/// The same of a process; nothing when it is gone.
std::optional<ProcessLine> process_line(pid_t pid);

/// Every process that can be seen, dead ones included.
std::vector<ProcessLine> all_processes();

/// Children of `root`, their children and so on, dead ones left out.
std::vector<pid_t> descendants_of(pid_t root, const std::vector<ProcessLine>& processes);

/// The same of those that run now, by what the kernel lists of each thread's children
/// (CONFIG_PROC_CHILDREN), else by all of /proc.
std::vector<pid_t> descendants_of(pid_t root);

/// The value of a variable in the environment that `pid` was started with; nothing when it has
/// none or may not be read.
std::optional<std::string> environment_of(pid_t pid, std::string_view variable);

/// Arguments of `pid` joined by spaces, at most `longest` bytes; empty when it is gone.
std::string command_of(pid_t pid, std::size_t longest = 200);

/// Living processes whose MEMDUEL_TRIAL is `trial`.
std::vector<pid_t> marked_processes(const std::string& trial,
                                    const std::vector<ProcessLine>& processes);

}  // namespace memduel
