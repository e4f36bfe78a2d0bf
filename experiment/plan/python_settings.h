// What makes a Python job compute something else in every run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiment/config/config.h"

namespace memduel {

/// Whether `program` is an interpreter of Python, or a script for one.
bool is_python(const std::filesystem::path& program);

/// "server and client-1 run Python without PYTHONHASHSEED …": the roles of a command workload whose
/// program is Python, or a script for it, and which of PYTHONHASHSEED and OMP_NUM_THREADS their
/// environment lacks. Nothing when all is set or nothing is Python.
std::optional<std::string> unpinned_python(const Experiment& experiment);

}  // namespace memduel
