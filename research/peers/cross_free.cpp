// Threads that free each other's blocks: memduel-peer-cross_free [BLOCKS] [THREADS], eight by
// default.
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kSlots = 4096;
std::array<std::atomic<void*>, kSlots> slots;

void work(int thread, long blocks) {
  unsigned long state = static_cast<unsigned long>(thread) + 1;
  for (long i = 0; i < blocks; ++i) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    void* block = std::malloc(16 + (state >> 40) % 500);
    std::free(slots[(state >> 20) % kSlots].exchange(block));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long blocks = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  const int thread_count = argc > 2 ? std::atoi(argv[2]) : 8;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) threads.emplace_back(work, i, blocks);
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : slots) std::free(slot.load());
}
