#include "experiment/builds/builds_file.h"

#include <fmt/format.h>
#include <gelf.h>

#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/sha256.h"

namespace memduel {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

std::string replaced(std::string text, const std::string& what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by);
  return text;
}

std::string bytes_of(Elf_Scn* section) {
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

/// The identifier of an NT_GNU_BUILD_ID note.
std::string build_id_in(Elf_Scn* section) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr) return {};
  GElf_Nhdr note{};
  std::size_t name = 0;
  std::size_t description = 0;
  std::size_t at = 0;
  while ((at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    const std::string_view owner(reinterpret_cast<const char*>(bytes) + name, note.n_namesz);
    if (note.n_type != NT_GNU_BUILD_ID || owner != std::string_view("GNU\0", 4)) continue;
    std::string text;
    for (std::size_t i = 0; i < note.n_descsz; ++i)
      text += fmt::format("{:02x}", bytes[description + i]);
    return text;
  }
  return {};
}

/// Fills what the sections say; their contents without the directory.
std::string loaded_sections(Elf* elf, const std::string& directory, BuildFile& file) {
  std::string loaded;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_ALLOC) == 0) continue;
    if (header.sh_type == SHT_NOTE && file.build_id.empty()) {
      file.build_id = build_id_in(section);
      if (!file.build_id.empty()) continue;
    }
    const std::string bytes = header.sh_type == SHT_NOBITS ? "" : bytes_of(section);
    loaded += fmt::format("section of {} bytes\n", header.sh_size) +
              replaced(bytes, directory, "DIRECTORY");
  }
  return loaded;
}

std::string interpreter_of(Elf* elf, std::string_view bytes) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment{};
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return {};
    const bool inside = segment.p_offset < bytes.size() && segment.p_filesz > 0 &&
                        segment.p_filesz <= bytes.size() - segment.p_offset;
    if (segment.p_type == PT_INTERP && inside)
      return std::string(bytes.substr(segment.p_offset, segment.p_filesz - 1));
  }
  return {};
}

}  // namespace

BuildFile read_build_file(const std::filesystem::path& path,
                          const std::filesystem::path& directory) {
  BuildFile file;
  file.path = path;
  std::string bytes = read_file(path);
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_memory(bytes.data(), bytes.size()));
  file.is_elf = elf && elf_kind(elf.get()) == ELF_K_ELF;
  std::string loaded;
  if (file.is_elf) {
    loaded = loaded_sections(elf.get(), directory.string(), file);
    file.interpreter = interpreter_of(elf.get(), bytes);
  }
  // Without section headers nothing says what belongs to the code.
  if (loaded.empty()) loaded = replaced(bytes, directory.string(), "DIRECTORY");
  file.code_sha256 = sha256_hex(loaded);
  return file;
}

bool same_code(const BuildFile& a, const BuildFile& b) {
  if (!a.build_id.empty() && a.build_id == b.build_id) return true;
  return a.code_sha256 == b.code_sha256;
}

}  // namespace memduel
