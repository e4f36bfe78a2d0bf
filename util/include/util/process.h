// Runs a short helper program and reads what it prints. Trials run under the supervisor instead.
#pragma once

#include <filesystem>
#include <string>
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

}  // namespace memduel
