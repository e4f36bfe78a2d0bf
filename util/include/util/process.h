// Programs and processes: running a helper program and reading its output, why a program does not
// start, where memduel's own programs and libraries are, and this process's descriptors, signals
// and threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

struct Captured {
  int exit_status = 0;  ///< 128 + signal when ended by one
  std::string out;
  std::string err;
};

struct CaptureOptions {
  double within_seconds = 60;
  std::string input;
  std::filesystem::path directory;  ///< in which it runs; empty: this one
};

/// Runs `argv` (argv[0] is looked up in PATH unless it has a slash), which reads `input`. Throws
/// Error(io) when it cannot be started, Error(cannot_measure) when it is not done in time or prints
/// more than 64 MiB; it is killed then, with what it started. It does not outlive this process.
Captured capture(const std::vector<std::string>& argv, const CaptureOptions& options = {});

/// What a program printed, as part of a sentence.
std::string without_line_end(std::string text);

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
