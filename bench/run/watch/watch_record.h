// The run that a watch leaves: its config, which names what was watched, its environment, its one
// trial, which grows while the watch goes on, and its limitations and warnings, in words.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/memory_limit.h"
#include "model/run_data.h"
#include "run/run.h"
#include "run/store.h"
#include "trial/trial_trace.h"

namespace memduel {

/// The one arm of a watched run.
inline constexpr const char* kWatchArm = "watch";

struct WatchTarget {
  std::string role;
  std::vector<std::string> argv;
  std::optional<pid_t> pid;                             ///< of one that was there already
  std::optional<double> seconds_before = std::nullopt;  ///< that it had run when the watch began
};

/// The role "command", or "command-1" and so on of several processes.
std::vector<WatchTarget> watch_targets(const WatchOptions& options);

/// For people: "python3 train.py", "pid 812 (python3 train.py)".
std::string name_of(const WatchTarget& target);

RunHeader watch_header(const WatchOptions& options, const std::vector<WatchTarget>& targets,
                       const std::optional<MemoryLimit>& limit);

/// The command line of a process as it is now: it changes when the process executes another
/// program. Empty for one that has ended.
std::vector<std::string> command_line_of(pid_t pid);

/// What a watched run says of what it measures.
nlohmann::json watch_config(const WatchOptions& options, const std::vector<WatchTarget>& targets);

/// How long `pid` has run; absent when it is gone.
std::optional<double> age_seconds(pid_t pid);

class WatchRecord {
 public:
  /// Makes the run directory. Throws what Store::create throws.
  WatchRecord(const WatchOptions& options, const std::optional<MemoryLimit>& limit,
              std::int64_t begin_ns);

  /// One of the processes executed another program: the run is of the command lines of `targets`.
  void rename(const WatchOptions& options, const std::vector<WatchTarget>& targets);
  void add_limitation(const Note& note) { store_.add_limitation(note); }
  void add_warning(const Note& note) { store_.add_warning(note); }
  void add(const std::vector<Note>& limitations, const std::vector<Note>& warnings);

  /// From the next `grow` on: the command was killed for memory.
  void killed_for_memory() { killed_for_memory_ = true; }
  /// Stores what is known at `now_ns`: rounds that are not stored yet, and all that else is known.
  void grow(std::vector<RoleData> roles, std::int64_t now_ns);

 private:
  Store store_;
  std::int64_t begin_ns_;
  bool killed_for_memory_ = false;
};

Note joined_late(const WatchTarget& target);

/// How a watched process went, and when.
struct GoneProcess {
  std::string name;
  bool replaced = false;  ///< its number is another process's by now
  double after_seconds = 0;
  std::size_t left = 0;  ///< of `of`, that the watch goes on with
  std::size_t of = 0;
};
Note process_gone(const GoneProcess& gone);

/// A command that did not end with 0. @param round in which it ended, where one ran.
Note command_failed(const std::string& name, const ExitRecord& exit, bool for_memory,
                    std::optional<int> round);
Note not_interleaved();
Note marks_of_several_processes();
Note processes_left_running(std::size_t descendants);

}  // namespace memduel
