#include "loaded_objects.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "page_scan.h"
#include "system.h"

namespace memduel::recorder {

namespace {

int find_nothing(void* /*address*/, dl_find_object* /*found*/) {
  return -1;
}

}  // namespace

int (*find_object)(void* address, dl_find_object* found) = find_nothing;

void look_up_find_object() {
  if (void* const found = dlsym(RTLD_DEFAULT, "_dl_find_object"); found != nullptr)
    find_object = reinterpret_cast<decltype(find_object)>(found);
}

namespace {

// A page fault maps up to 16 pages of the file around the touched one, so that this is 2 MiB of the
// table itself at most.
constexpr std::uint32_t kReadsBetween = 32;

std::uint32_t reads;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// Such relocations are written into pages that are read-only afterwards.
bool has_text_relocations(const link_map& module) {
  if (module.l_ld == nullptr) return true;
  for (const ElfW(Dyn)* entry = module.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_TEXTREL) return true;
    if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
  }
  return false;
}

// From the header of the tables to the end of its segment, where that can only be read.
Range pages_of_tables(const dl_find_object& module) {
  const auto tables = reinterpret_cast<std::uintptr_t>(module.dlfo_eh_frame);
  Range pages;
  any_segment(module, [&](const ElfW(Phdr) & segment) {
    const std::uintptr_t begin = module.dlfo_link_map->l_addr + segment.p_vaddr;
    const std::uintptr_t end = begin + segment.p_filesz;
    if (segment.p_type != PT_LOAD || tables < begin || tables >= end) return false;
    if (segment.p_flags == PF_R)
      pages = {(tables + kPageBytes - 1) & ~(kPageBytes - 1), end & ~(kPageBytes - 1)};
    return true;
  });
  return pages;
}

}  // namespace

void tables_were_read(const dl_find_object& module) {
  if (__atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED) % kReadsBetween != 0) return;
  if (has_text_relocations(*module.dlfo_link_map)) return;
  const Range pages = pages_of_tables(module);
  if (pages.begin >= pages.end) return;
  raw_syscall(SYS_madvise, static_cast<long>(pages.begin),
              static_cast<long>(pages.end - pages.begin), MADV_DONTNEED);
}

}  // namespace memduel::recorder
