#include "modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>

#include "counters.h"
#include "loaded_objects.h"
#include "trace_writer.h"

namespace memduel::recorder {

namespace {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

constexpr int kMostModules = 4096;
Range told[kMostModules];
int told_count = 0;
int last_hit = 0;

bool is_told(std::uintptr_t ip) {
  const auto contains = [ip](const Range& range) { return ip >= range.begin && ip < range.end; };
  if (last_hit < told_count && contains(told[last_hit])) return true;
  for (int i = 0; i < told_count; ++i) {
    if (!contains(told[i])) continue;
    last_hit = i;
    return true;
  }
  return false;
}

struct BuildId {
  const char* bytes = nullptr;
  std::size_t size = 0;
};

BuildId find_in_notes(const char* at, std::size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, at, sizeof note);
    const std::size_t name = (note.n_namesz + 3U) & ~3U;
    const std::size_t description = (note.n_descsz + 3U) & ~3U;
    const std::size_t whole = sizeof note + name + description;
    if (whole > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        memcmp(at + sizeof note, "GNU", 4) == 0) {
      return {at + sizeof note + name, note.n_descsz};
    }
    at += whole;
    size -= whole;
  }
  return {};
}

BuildId build_id_of(const dl_find_object& module) {
  const char* start = static_cast<const char*>(module.dlfo_map_start);
  BuildId found{};
  any_segment(module, [&](const ElfW(Phdr) & segment) {
    if (segment.p_type != PT_NOTE) return false;
    const char* notes =
        reinterpret_cast<const char*>(module.dlfo_link_map->l_addr) + segment.p_vaddr;
    if (notes < start || notes + segment.p_memsz > static_cast<const char*>(module.dlfo_map_end))
      return false;
    found = find_in_notes(notes, segment.p_memsz);
    return found.bytes != nullptr;
  });
  return found;
}

}  // namespace

void tell_module_of(std::uintptr_t ip) {
  if (is_told(ip)) return;
  dl_find_object module{};
  if (find_object(reinterpret_cast<void*>(ip), &module) != 0) return;
  const Range range{reinterpret_cast<std::uintptr_t>(module.dlfo_map_start),
                    reinterpret_cast<std::uintptr_t>(module.dlfo_map_end)};
  if (told_count == kMostModules) return count_lost();
  told[told_count++] = range;
  const char* path = module.dlfo_link_map->l_name;
  if (path == nullptr || path[0] == '\0') path = page->program;
  const BuildId id = build_id_of(module);
  write_record(events::Module{range.begin,
                              range.end,
                              module.dlfo_link_map->l_addr,
                              {id.bytes, id.size > 64 ? 64 : id.size},
                              {path, strlen(path)}});
}

void forget_modules() {
  told_count = 0;
}

}  // namespace memduel::recorder
