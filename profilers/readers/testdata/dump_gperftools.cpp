// Writes the sampled heap of tcmalloc to stdout.
#include <gperftools/malloc_extension.h>

#include <cstdio>
#include <string>

void dump() {
  std::string text;
  MallocExtension::instance()->GetHeapSample(&text);
  std::fwrite(text.data(), 1, text.size(), stdout);
}
