// Where the parts of memduel lie beside the program that runs: installed, all of them in
// ../lib/memduel/; in a build directory programs beside it and libraries in ../lib/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace memduel {

/// A program that only memduel starts. Throws Error(io) where /proc/self/exe cannot be read.
std::filesystem::path program_beside(std::string_view name);

/// `name` where it is one of memduel's own programs that lies beside this one: its path; else as it
/// is, for PATH. Throws likewise.
std::string own_program(const std::string& name);

/// A library that memduel preloads. Throws likewise.
std::filesystem::path library_beside_programs(std::string_view name);

}  // namespace memduel
