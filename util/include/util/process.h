// Programs and processes: running a helper program and reading its output, why a program does not
// start, where memduel's own programs and libraries are, and this process's descriptors, signals
// and threads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/error.h"
#include "util/spawn.h"

namespace memduel {

struct HelperOptions {
  std::map<std::string, std::optional<std::string>> environment;  ///< absent: goes without it
  std::filesystem::path directory;  ///< in which it runs; empty: this one
  std::string input;                ///< what it reads; empty: /dev/null
  std::filesystem::path log;        ///< takes both streams at its end; empty: they are captured
  std::optional<double> within_seconds = 60;  ///< absent: for a command that the user wrote
  /// Ends it. Null: it runs in spite of a stop, as cleanup must.
  const StopRequest* stop = &own_stop_request();
};

struct HelperResult {
  int exit_status = 0;  ///< 128 + signal when ended by one
  std::string out;
  std::string err;
  int signal = 0;           ///< 0: it ended by itself
  bool timed_out = false;   ///< it was killed
  bool output_cut = false;  ///< it printed more than 64 MiB and was killed
  bool stopped = false;     ///< `stop` was requested: it received SIGTERM, and SIGKILL 5 s later
};

/// Starts `argv` (argv[0] is looked up in its PATH unless it has a slash; no shell) and waits for
/// its end and for that of what it prints. It has a process group of its own, of which nothing is
/// left afterwards; where SIGINT, SIGTERM or SIGHUP kills this process, the group is killed first.
/// It is not started if `stop` was requested before: the result is that of a stopped one. Throws
/// Error(io) where it cannot be started or waited for. Threads may call it at once.
HelperResult run_helper(const std::vector<std::string>& argv, const HelperOptions& options = {});

/// The same of a helper that is of no use unless it gets done. Throws Error(cannot_measure) when it
/// timed out or its output was cut, Error(interrupted or terminated) when it was stopped.
HelperResult capture(const std::vector<std::string>& argv, const HelperOptions& options = {});

/// Starts a command that the user wrote; somebody must wait for it. Throws Error(usage) naming it
/// where it cannot be executed, Error(io) where no process can be made.
pid_t start_command(const SpawnOptions& options);

/// This process's.
std::map<std::string, std::string> current_environment();

/// What a program printed, as part of a sentence.
std::string without_line_end(std::string text);

/// Whether it is a file that may be executed.
bool is_program(const std::filesystem::path& file);

/// This process's PATH; where it has none, what execvp takes for it.
std::string own_path();

/// The folders that a PATH lists.
std::vector<std::string> folders_of(const std::string& path);

/// The file that starting `name` in `cwd` with this PATH would execute; absent when there is none.
std::optional<std::filesystem::path> resolve_program(const std::string& name,
                                                     const std::filesystem::path& cwd,
                                                     const std::string& path);

/// The system's words for `error`; where the program is there and its interpreter is not, that.
std::string why_not_run(const std::string& program, int error);

/// A program that only memduel starts. Throws Error(io) where /proc/self/exe cannot be read.
std::filesystem::path program_beside(std::string_view name);

/// `name` where it is one of memduel's own programs that lies beside this one: its path; else as it
/// is, for PATH. Throws likewise.
std::string own_program(const std::string& name);

/// A library that memduel preloads. Throws likewise.
std::filesystem::path library_beside_programs(std::string_view name);

/// Makes this process one like any other, whoever started it:
/// - /dev/null stands in place of each of the descriptors 0 to 2 that is closed, so that no file of
///   a run becomes one of them;
/// - writing to a pipe that nobody reads, or beyond `ulimit -f`, fails and does not kill;
/// - the status of a child can be waited for, where SIGCHLD came ignored;
/// - Ctrl-C, SIGTERM and SIGHUP arrive, where they came blocked.
/// Programs that it starts inherit the descriptors and the signals, and die of writing as they
/// would.
void undo_inherited_state() noexcept;

/// Calls `run` for each number below `count`, on as many threads as there are cores; this one is
/// among them, and the only one where no other can be started. Returns when all are done. What
/// `run` throws is thrown here then, of several that of the smallest number.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& run);

}  // namespace memduel
