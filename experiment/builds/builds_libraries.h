// The shared libraries that the dynamic linker would give a program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/builds/builds_file.h"

namespace memduel {

struct LoadedLibrary {
  std::string name;            ///< as the program asks for it
  std::filesystem::path path;  ///< empty: not found
};

/// What the dynamic linker's --list prints; the kernel's own page and the linker are left out.
std::vector<LoadedLibrary> parse_library_list(const std::string& listing);

/// Asks the program's own dynamic linker, with `library_path` as LD_LIBRARY_PATH; nothing of the
/// program runs. Of a program that lacks a library only that one is told. Empty for a static
/// program or one that is no ELF file. Throws Error(cannot_measure) when the linker refuses the
/// program.
std::vector<LoadedLibrary> libraries_of(const BuildFile& program, const std::string& library_path);

}  // namespace memduel
