// ELF files as libelf reads them.
#pragma once

#include <fcntl.h>
#include <gelf.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "util/file.h"

namespace memduel {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

struct OpenElf {
  Descriptor file;
  ElfHandle elf;  ///< empty where the file cannot be read
};

inline OpenElf open_elf(const std::filesystem::path& path) {
  elf_version(EV_CURRENT);
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ElfHandle elf(file ? elf_begin(file.get(), ELF_C_READ_MMAP, nullptr) : nullptr);
  return {std::move(file), std::move(elf)};
}

/// Calls visit(section, header) for each section of a file, or of none.
template <typename Visit>
void for_each_section(const ElfHandle& elf, const Visit& visit) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) != nullptr) visit(section, header);
  }
}

}  // namespace memduel
