// One file of a build: what it holds, whatever directory it was built in.
#pragma once

#include <filesystem>
#include <string>

namespace memduel {

struct BuildFile {
  std::filesystem::path path;
  bool is_elf = false;
  std::string build_id;     ///< hexadecimal; empty when the file has none
  std::string interpreter;  ///< the dynamic linker that it names; empty: static, or no program
  /// Of what is loaded into memory (of the whole file where it is no ELF file), without the build
  /// id and with the build's own directory left out of every text: equal sources that were built
  /// in two directories have debug information and assertions that name them.
  std::string code_sha256;
};

/// Throws Error(io) when the file cannot be read.
BuildFile read_build_file(const std::filesystem::path& file,
                          const std::filesystem::path& directory);

/// Whether both are the same program: by build id, else by what is loaded.
bool same_code(const BuildFile& a, const BuildFile& b);

}  // namespace memduel
