// What tracers that are preloaded have in common: where their libraries are, and the variables of
// libmemduel_dump.so (dump.cpp), which has them write files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "external/tracers.h"
#include "profile/recording.h"

namespace memduel {

/// libmemduel_dump.so in lib/ beside the directory of the running program.
std::filesystem::path dump_library();

/// Where the dynamic linker would find `name`, or one of the folders that a package puts it in;
/// absent when there is none.
std::optional<std::filesystem::path> find_shared_library(const std::string& name);

/// Whether `library` and libmemduel_dump.so are here.
Availability library_works(const std::string& library);

/// Preloads `library` (empty: none) behind libmemduel_dump.so and before what `environment`
/// preloads already, and tells the former which tracer it drives and where files go.
EnvironmentVariables preload_environment(const std::string& tracer, const std::string& library,
                                         const std::filesystem::path& directory,
                                         const EnvironmentVariables& environment);

/// The value of a variable; empty when it is not set.
std::string value_in(const EnvironmentVariables& environment, const std::string& name);

}  // namespace memduel
