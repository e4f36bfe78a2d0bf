// memray in a program's own Python: memray/sitecustomize.py starts it, and memray/read_capture.py
// makes JSON of what it left (profilers/readers/memray.cpp).
#pragma once

#include <filesystem>

#include "external/tracers.h"

namespace memduel {

/// Whether the two scripts are here. Whether memray is, is known of each interpreter alone.
Availability memray_scripts_work();

EnvironmentVariables memray_variables(const std::filesystem::path& directory,
                                      const EnvironmentVariables& environment,
                                      const TracerOptions& options);

/// Has each capture in `directory` read by the Python that wrote it.
KeptProfiles keep_captures(const std::filesystem::path& directory, const ProfileNaming& file_of);

}  // namespace memduel
