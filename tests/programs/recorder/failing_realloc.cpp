// Four threads keep a block of 1,000 bytes each, whose reallocs fail while the others allocate and
// free.
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

[[gnu::noinline]] void* keep() {
  void* block = malloc(1000);
  asm volatile("" ::: "memory");  // keeps the call from becoming a jump, and the frame in the stack
  return block;
}

void churn_and_fail() {
  const volatile std::size_t too_much = SIZE_MAX / 2;
  void* kept = keep();
  for (int i = 0; i < 2000; ++i) {
    free(malloc(100));
    if (realloc(kept, too_much) != nullptr) abort();
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(churn_and_fail);
  for (std::thread& thread : threads) thread.join();
}
