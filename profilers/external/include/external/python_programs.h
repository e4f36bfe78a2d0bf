// Which Python a command starts, and whether a package is installed there: tracers that record
// Python programs run inside of their interpreters.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "external/tracers.h"

namespace memduel {

struct PlacedCommand {
  std::string name;  ///< for messages: "role server"
  std::vector<std::string> argv;
  std::filesystem::path cwd;
  EnvironmentVariables environment;  ///< added to this process's
};

/// The interpreter of `python3 …`, of `env A=1 python3 …` and of a script such as pip writes into
/// the bin/ of a virtual environment; absent if the command starts another program.
std::optional<std::filesystem::path> interpreter_of(const PlacedCommand& command);

/// "/opt/env/bin/python -m pip install memray".
std::string command_to_install(const std::string& package, const std::string& interpreter);

/// Throws Error(usage) if a command does not start Python, and Error(cannot_measure) with the
/// command that installs the tracer's package if its Python cannot import it. Runs each interpreter
/// once.
void require_python_package(const TracerEntry& entry, std::span<const PlacedCommand> commands);

}  // namespace memduel
