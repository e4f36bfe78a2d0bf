// Where the parts of memduel lie beside the program that runs: installed, all of them in
// ../lib/memduel/; in a build directory programs beside it and libraries in ../lib/.
#pragma once

#include <filesystem>
#include <string_view>

namespace memduel {

/// A program that only memduel starts. Throws Error(io) where /proc/self/exe cannot be read.
std::filesystem::path program_beside(std::string_view name);

/// A library that memduel preloads. Throws likewise.
std::filesystem::path library_beside_programs(std::string_view name);

}  // namespace memduel
