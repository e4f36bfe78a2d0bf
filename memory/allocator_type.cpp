#include "memduel/allocator.h"

#if __has_include(<link.h>)
#include <dlfcn.h>
#include <link.h>
#endif

#include <array>
#include <cstdint>
#include <cstring>

namespace memduel {
namespace {

struct Row {
  Allocator allocator;
  const char* symbol;  ///< that no other allocator has
};

constexpr std::array<Row, 4> kRows = {{
    {Allocator::jemalloc, "mallctl"},
    {Allocator::tcmalloc, "MallocExtension_GetNumericProperty"},
    {Allocator::mimalloc, "mi_process_info"},
    {Allocator::glibc, "gnu_get_libc_version"},
}};

#if __has_include(<link.h>)

/// Profilers that pass every call on to the next malloc.
constexpr std::array<const char*, 2> kForwarders = {"libmemduel_recorder.so",
                                                    "libheaptrack_preload.so"};

struct Segments {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  [[nodiscard]] bool hold(std::uintptr_t address) const {
    return address >= begin && address < end;
  }
};

Segments segments_of(const dl_phdr_info& module) {
  Segments all{UINTPTR_MAX, 0};
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& segment = module.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t from = module.dlpi_addr + segment.p_vaddr;
    if (from < all.begin) all.begin = from;
    if (from + segment.p_memsz > all.end) all.end = from + segment.p_memsz;
  }
  return all;
}

struct Search {
  std::array<std::uintptr_t, kRows.size()>
      marks{};                ///< addresses of the rows' symbols, 0: not loaded
  std::uintptr_t malloc = 0;  ///< 0: take the first module that has a mark
  Allocator found = Allocator::unknown;
};

int look_at(dl_phdr_info* module, std::size_t /*size*/, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const Segments segments = segments_of(*module);
  if (search.malloc != 0 && !segments.hold(search.malloc)) return 0;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (search.marks[i] == 0 || !segments.hold(search.marks[i])) continue;
    search.found = kRows[i].allocator;
    return 1;
  }
  return search.malloc != 0 ? 1 : 0;
}

/// Whether the call goes on to another malloc: through a profiler, or through the stub that a
/// program at a fixed address has for a function whose address it takes.
bool is_passed_on(void* malloc_address) {
  Dl_info about{};
#ifdef __GLIBC__
  ElfW(Sym)* symbol = nullptr;
  if (dladdr1(malloc_address, &about, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0)
    return false;
  if (symbol != nullptr && symbol->st_shndx == SHN_UNDEF) return true;
#else
  if (dladdr(malloc_address, &about) == 0) return false;
#endif
  for (const char* name : kForwarders)
    if (about.dli_fname != nullptr && std::strstr(about.dli_fname, name) != nullptr) return true;
  return false;
}

Allocator find_allocator() {
  Search search;
  for (std::size_t i = 0; i < kRows.size(); ++i)
    search.marks[i] = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, kRows[i].symbol));
  void* malloc_address = dlsym(RTLD_DEFAULT, "malloc");
  if (malloc_address == nullptr) return Allocator::unknown;
  if (!is_passed_on(malloc_address))
    search.malloc = reinterpret_cast<std::uintptr_t>(malloc_address);
  // In the order of loading, which is the order in which the linker looks for malloc.
  dl_iterate_phdr(look_at, &search);
  return search.found;
}

#else  // no ELF

Allocator find_allocator() {
  return Allocator::unknown;
}

#endif

}  // namespace

const char* name_of(Allocator allocator) {
  for (const auto& [known, name] : kAllocatorNames)
    if (known == allocator) return name.data();
  return "unknown";
}

Allocator allocator_type() noexcept {
  static const Allocator found = find_allocator();
  return found;
}

}  // namespace memduel
