// Loaded programs and libraries: which of them holds an address, asked without a lock, and their
// unwind tables as resident pages of the program under test.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>

#include "thread_state.h"

namespace memduel::recorder {

/// glibc's _dl_find_object, which is there since 2.35; before look_up_find_object(), and where
/// there is none, it finds nothing.
extern int (*find_object)(void* address, dl_find_object* found) MEMDUEL_HIDDEN;

/// Once, before the first stack is walked.
void look_up_find_object() MEMDUEL_HIDDEN;

/// Asks `visit` about each segment of a module until it says true; false where it never does. The
/// first segment of a library starts with its ELF header, as the dynamic linker maps it.
template <class Visit>
bool any_segment(const dl_find_object& module, Visit visit) {
  const char* start = static_cast<const char*>(module.dlfo_map_start);
  ElfW(Ehdr) header;
  memcpy(&header, start, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    memcpy(&segment, start + header.e_phoff + i * sizeof segment, sizeof segment);
    if (visit(segment)) return true;
  }
  return false;
}

/// Says that the tables of `module` were read. Now and then unmaps them: they are pages of its
/// file, come back when they are touched, and would otherwise stay resident, ten MiB for a library
/// of a hundred. Tables that somebody may have written to are left alone. Any thread, no lock.
void tables_were_read(const dl_find_object& module) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
