#include "profilers/readers/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

namespace memduel {

namespace {

// Closes what it opened.
struct ElfHandle {
  int file = -1;
  Elf* elf = nullptr;
  ElfHandle() = default;
  ElfHandle(ElfHandle&&) = delete;
  ElfHandle& operator=(ElfHandle&&) = delete;
  ElfHandle(const ElfHandle&) = delete;
  ElfHandle& operator=(const ElfHandle&) = delete;
  ~ElfHandle() {
    elf_end(elf);
    if (file >= 0) close(file);
  }
};

}  // namespace

std::optional<ElfFile> read_elf_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  elf_version(EV_CURRENT);
  ElfHandle handle;
  handle.file = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle.file < 0) return std::nullopt;
  handle.elf = elf_begin(handle.file, ELF_C_READ_MMAP, nullptr);
  std::size_t headers = 0;
  if (handle.elf == nullptr || elf_getphdrnum(handle.elf, &headers) != 0) return std::nullopt;
  ElfFile found;
  for (std::size_t i = 0; i < headers; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(handle.elf, static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type == PT_LOAD) {
      found.segments.push_back({header.p_offset, header.p_vaddr, header.p_memsz});
    }
  }
  const void* bits = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(handle.elf, &bits);
  for (ssize_t i = 0; i < size; ++i) {
    found.build_id += fmt::format("{:02x}", static_cast<const unsigned char*>(bits)[i]);
  }
  return found;
}

}  // namespace memduel
