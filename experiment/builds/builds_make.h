// Runs the command that builds a revision, its output in a log.
#pragma once

#include <filesystem>
#include <string>

#include "base/command_line.h"
#include "base/stop_request.h"

namespace memduel {

struct MakeOptions {
  CommandLine command;
  std::filesystem::path directory;  ///< in which it runs
  std::filesystem::path log;        ///< appended: stdout and stderr
  const StopRequest* stop = nullptr;
};

/// Its exit status, 128 + signal when one ended it. It runs in a process group of its own, without
/// standard input and without the variables that git sets for hooks. Throws Error(usage) when it
/// cannot be started, Error(interrupted or terminated) when `stop` asks for it. In every case
/// what is left of the group is ended.
int run_make(const MakeOptions& options);

/// The last lines of a log, each indented, at most 20.
std::string last_lines(const std::filesystem::path& log);

}  // namespace memduel
