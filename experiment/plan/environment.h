// The machine and settings that a run's numbers depend on.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// cpu, cores, memory_bytes, swap_bytes, kernel, glibc, allocator, transparent_hugepage, aslr,
/// cgroup_limit_bytes, load, memduel, revision, then what a provider says of the site (an empty
/// object where there is none): torch, gpu, the workload's model; fingerprint last.
/// What cannot be read is absent.
/// @param root where proc/ and sys/ lie; other than "/" in tests.
nlohmann::json describe_environment(const nlohmann::json& of_site,
                                    const std::filesystem::path& root = "/");

/// Of this memduel.
std::string memduel_version();

/// 12 hexadecimal digits over what moves memory numbers: cpu, cores, kernel, glibc, allocator,
/// torch, gpu, transparent_hugepage, aslr. Runs with different fingerprints are never compared as
/// equals.
std::string environment_fingerprint(const nlohmann::json& environment);

}  // namespace memduel
