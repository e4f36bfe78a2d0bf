// Writes the sampled heap of tcmalloc to stdout: of several MiB, for its first sample comes late.
#include <gperftools/malloc_extension.h>

#include <cstdio>
#include <string>

void* allocate(std::size_t bytes);

void dump() {
  for (int i = 0; i < 2000; ++i) allocate(5000);
  for (int i = 0; i < 60; ++i) allocate(500'000);
  std::string text;
  MallocExtension::instance()->GetHeapSample(&text);
  std::fwrite(text.data(), 1, text.size(), stdout);
}
