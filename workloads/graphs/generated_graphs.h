// A file of as many graphs as wanted, from generated traffic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace memduel {

/// The first attack begins at most 4 s after the first thousand: some of so many are under attack.
inline constexpr std::size_t kFewestGraphs = 1100;

/// Stretches of 73 s without attack take turns with stretches under DoS, fuzzy and spoofing
/// attacks. Injected identifiers share the index of the unknown. In memory of a few MB, however
/// many graphs. Throws Error(io).
void write_generated_graphs(const std::filesystem::path& path, std::size_t count,
                            std::uint64_t seed);

}  // namespace memduel
