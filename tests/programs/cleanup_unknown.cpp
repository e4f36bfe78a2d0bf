// Brings its own malloc, and cleans up: prints what was done and why no more.
#include <cstddef>
#include <cstdio>

#include "memduel/memory.h"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void __libc_free(void* block);

void* malloc(std::size_t size) {
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  return __libc_realloc(block, size);
}
void free(void* block) {
  __libc_free(block);
}
}

int main() {
  const memduel::CleanupReport report = memduel::cleanup_memory();
  std::printf("%s %s", name_of(report.allocator), name_of(report.heap));
  for (const std::string& note : report.notes) std::printf(", %s", note.c_str());
  std::printf("\n%s\n", memduel::try_malloc_trim() ? "trimmed" : "not trimmed");
  std::printf("%s\n", memduel::limit_arenas(2).note.c_str());
}
