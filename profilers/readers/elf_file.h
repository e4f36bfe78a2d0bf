// What an ELF file says about itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace memduel {

/// A part of a file that is mapped into memory.
struct ElfSegment {
  std::uint64_t offset = 0;   ///< in the file
  std::uint64_t address = 0;  ///< that the file asks for
  std::uint64_t bytes = 0;    ///< in memory

  friend bool operator==(const ElfSegment&, const ElfSegment&) = default;
};

struct ElfFile {
  std::string build_id;  ///< hexadecimal; empty when the file has none
  std::vector<ElfSegment> segments;
};

/// Absent when there is no such file, or it is not ELF.
std::optional<ElfFile> read_elf_file(const std::filesystem::path& file);

}  // namespace memduel
