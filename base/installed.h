// Where the parts of memduel lie beside the program that runs.
#pragma once

#include <filesystem>
#include <string_view>

namespace memduel {

/// A program in the directory of the running one. Empty where /proc/self/exe cannot be read.
std::filesystem::path program_beside(std::string_view name);

/// A library in lib/ beside that directory. Empty likewise.
std::filesystem::path library_beside_programs(std::string_view name);

}  // namespace memduel
