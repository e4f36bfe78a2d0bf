// Brings its own operator new and delete, on malloc: 100 blocks of 1,000 bytes in round 1.
#include <cstdlib>
#include <new>

#include "memduel/annotate.h"

void* operator new(std::size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

namespace {
void* volatile sink;
}

int main() {
  memduel_round_begin(1);
  for (int i = 0; i < 100; ++i) sink = ::operator new(1000);
  memduel_round_end(1);
}
