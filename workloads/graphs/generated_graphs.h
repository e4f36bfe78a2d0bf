// A file of as many graphs as wanted, from generated traffic.
#pragma once

#include <cstdint>
#include <filesystem>

namespace memduel {

/// Stretches of 73 s without attack take turns with stretches under DoS, fuzzy and spoofing
/// attacks. Injected identifiers share the index of the unknown. In memory of a few MB, however
/// many graphs. Throws Error(io).
void write_generated_graphs(const std::filesystem::path& path, std::size_t count,
                            std::uint64_t seed);

}  // namespace memduel
