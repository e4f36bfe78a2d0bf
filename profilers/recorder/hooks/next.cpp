#include "next.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <cstring>

#include "hooks.h"

namespace memduel::recorder {

Next next;

namespace {

#define MEMDUEL_FORM(name, symbol, parameters, arguments) #symbol,
constexpr const char* kNewNames[new_forms] = {MEMDUEL_NEW_FORMS(MEMDUEL_FORM)};
constexpr const char* kDeleteNames[delete_forms] = {MEMDUEL_DELETE_FORMS(MEMDUEL_FORM)};
#undef MEMDUEL_FORM

// A failing lookup leaves a message, which would be freed, and counted, later. dlerror tells it
// and, asked again, frees it.
template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (function != nullptr) return;
  dlerror();
  dlerror();
}

// The layout is an implementation detail of glibc, so it is believed only after it agreed with
// malloc_usable_size for small, odd, large and mmapped blocks.
bool has_glibc_chunks() {
  // tcmalloc defines libc's private names too: that malloc is libc's is seen by its neighbours.
  const auto libc = reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version);
  if (libc < next.module_begin || libc >= next.module_end) return false;
  constexpr std::size_t kSizes[] = {0, 1, 24, 25, 1000, 70'000, 40'000'000};
  for (const std::size_t size : kSizes) {
    void* block = next.malloc(size);
    if (block == nullptr) return false;
    const std::size_t header = static_cast<std::size_t*>(block)[-1];
    const std::size_t overhead = (header & 2) != 0 ? 16 : 8;
    const bool agrees = next.usable_size(block) + overhead == (header & ~std::size_t{7});
    next.free(block);
    if (!agrees) return false;
  }
  return true;
}

struct ModuleSearch {
  std::uintptr_t address;
  std::uintptr_t begin;
  std::uintptr_t end;
};

int match_module(dl_phdr_info* info, std::size_t /*size*/, void* argument) {
  auto* search = static_cast<ModuleSearch*>(argument);
  std::uintptr_t begin = ~std::uintptr_t{0};
  std::uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t from = info->dlpi_addr + segment.p_vaddr;
    if (from < begin) begin = from;
    if (from + segment.p_memsz > end) end = from + segment.p_memsz;
  }
  if (search->address < begin || search->address >= end) return 0;
  search->begin = begin;
  search->end = end;
  return 1;
}

void describe_provider() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(next.malloc), &info) != 0 && info.dli_fname != nullptr) {
    strncpy(next.provider, info.dli_fname, sizeof next.provider - 1);
  }
  Dl_info of_new{};
  next.new_is_libstdcxx =
      dladdr(reinterpret_cast<void*>(next.new_forms_[new_plain]), &of_new) != 0 &&
      of_new.dli_fname != nullptr && strstr(of_new.dli_fname, "/libstdc++.so") != nullptr;
  ModuleSearch search{reinterpret_cast<std::uintptr_t>(next.malloc), 0, 0};
  dl_iterate_phdr(match_module, &search);
  next.module_begin = search.begin;
  next.module_end = search.end;
}

constexpr int kEarlyBlocks = 64;
void* early_blocks[kEarlyBlocks];
int early_count = 0;

void remember_early(void* block) {
  if (block != nullptr && early_count < kEarlyBlocks) early_blocks[early_count++] = block;
}

}  // namespace

void* early_malloc(std::size_t size) {
  void* block = __libc_malloc(size);
  remember_early(block);
  return block;
}

void* early_calloc(std::size_t count, std::size_t size) {
  void* block = __libc_calloc(count, size);
  remember_early(block);
  return block;
}

void* early_realloc(void* old, std::size_t size) {
  if (old != nullptr) take_early_block(old);
  void* block = __libc_realloc(old, size);
  remember_early(block);
  return block;
}

void early_free(void* block) {
  take_early_block(block);
  __libc_free(block);
}

bool is_early_block(const void* block) {
  for (int i = 0; i < early_count; ++i) {
    if (early_blocks[i] == block) return true;
  }
  return false;
}

bool take_early_block(void* block) {
  for (int i = 0; i < early_count; ++i) {
    if (early_blocks[i] != block) continue;
    early_blocks[i] = early_blocks[--early_count];
    return true;
  }
  return false;
}

void resolve_next() {
  find(next.malloc, "malloc");
  find(next.free, "free");
  find(next.calloc, "calloc");
  find(next.realloc, "realloc");
  find(next.posix_memalign, "posix_memalign");
  find(next.aligned_alloc, "aligned_alloc");
  find(next.memalign, "memalign");
  find(next.valloc, "valloc");
  find(next.pvalloc, "pvalloc");
  find(next.usable_size, "malloc_usable_size");
  for (int i = 0; i < new_forms; ++i) find(next.new_forms_[i], kNewNames[i]);
  for (int i = 0; i < delete_forms; ++i) find(next.delete_forms_[i], kDeleteNames[i]);
  describe_provider();
  next.glibc = has_glibc_chunks();
  // Blocks of the same allocator need no memory of where they came from; their addresses return.
  const auto libc_malloc = reinterpret_cast<std::uintptr_t>(&__libc_malloc);
  if (libc_malloc >= next.module_begin && libc_malloc < next.module_end) early_count = 0;
}

}  // namespace memduel::recorder
