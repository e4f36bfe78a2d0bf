// Frees blocks that it did not allocate through the recorded entry points: from inside libc, and
// from libc's own names for the allocator. Ends with all file descriptors closed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memduel/annotate.h"

extern "C" void* __libc_malloc(std::size_t);

int main() {
  for (int i = 0; i < 1000; ++i) {
    free(__libc_malloc(500));
    free(strdup("text"));
    char* line = nullptr;
    std::size_t size = 0;
    FILE* file = fopen("/proc/self/status", "r");
    if (file == nullptr || getline(&line, &size, file) < 0) return 1;
    fclose(file);
    free(line);
    free(realpath("/proc/self", nullptr));
  }
  for (int fd = 0; fd < 4096; ++fd) close(fd);
  memduel_round_begin(1);
  memduel_round_end(1);
  return 0;
}
