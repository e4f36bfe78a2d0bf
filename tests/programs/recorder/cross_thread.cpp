// Eight threads that free each other's blocks; prints the largest sum of block bytes that the
// threads' own bookkeeping allowed, and the bytes still live (glibc's chunk sizes).
#include <malloc.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "memduel/annotate.h"

namespace {

constexpr int kThreads = 8;
constexpr int kSlots = 4096;
std::array<std::atomic<void*>, kSlots> slots;

void work(unsigned seed, int steps) {
  for (int i = 0; i < steps; ++i) {
    seed = seed * 1664525u + 1013904223u;
    void* block = malloc(16 + (seed >> 8) % 500);
    free(slots[(seed >> 18) % kSlots].exchange(block));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 200'000;
  memduel_round_begin(1);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, i * 77u + 1, steps);
  for (auto& thread : threads) thread.join();
  long live = 0;
  for (auto& slot : slots) {
    void* block = slot.load();
    if (block != nullptr) live += static_cast<long>(malloc_usable_size(block)) + 8;
  }
  threads.clear();
  memduel_round_end(1);
  printf("%ld\n", live);
}
