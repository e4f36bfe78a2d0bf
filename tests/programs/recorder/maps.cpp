// Maps, remaps and unmaps in parts: 10 pages remain of 100 + 50 + 20, and one file mapping and one
// reservation that hold no heap.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memduel/annotate.h"

namespace {

constexpr std::size_t kPage = 4096;

char* map(std::size_t pages, int protection = PROT_READ | PROT_WRITE) {
  void* at = mmap(nullptr, pages * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<char*>(at);
}

}  // namespace

int main() {
  memduel_round_begin(1);
  char* first = map(100);
  munmap(first + 10 * kPage, 20 * kPage);
  munmap(first + 50 * kPage, 50 * kPage);
  munmap(first + 30 * kPage, 20 * kPage);
  char* second = map(50);
  void* moved = mremap(second, 50 * kPage, 200 * kPage, MREMAP_MAYMOVE);
  munmap(moved, 200 * kPage);
  map(1 << 20, PROT_NONE);
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, fd, 0);
  char* third = map(20);
  mmap(third, 20 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memduel_round_end(1);
}
