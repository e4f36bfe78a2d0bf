// A memory limit in the notation of what sets limits: Slurm, systemd, Docker, Kubernetes.
#pragma once

#include <string>

namespace memduel::cli {

/// Lines to copy below one with the headroom, one for each system; those of Kubernetes are YAML.
/// @param bytes the smallest limit.
/// @param headroom is added to it: 0.15 for 15%. The sum is rounded up to MiB: M of Slurm and of
///   systemd, m of Docker, Mi of Kubernetes.
std::string limit_lines(double bytes, double headroom);

}  // namespace memduel::cli
