// Threads that each allocate from many stacks and have many blocks alive. Prints the most resident
// bytes (VmHWM).
//   many_stacks THREADS BITS ALIVE      2^BITS stacks a thread
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

namespace {

void* by_odd(int depth, unsigned path);
void* by_even(int depth, unsigned path);

void* next(int depth, unsigned path) {
  void* volatile block =
      (path & 1) != 0 ? by_odd(depth - 1, path >> 1) : by_even(depth - 1, path >> 1);
  return block;  // through memory, so that no call is the function's last
}

void* by_odd(int depth, unsigned path) {
  void* volatile block = depth == 0 ? std::malloc(32) : next(depth, path);
  return block;
}

void* by_even(int depth, unsigned path) {
  void* volatile block = depth == 0 ? std::malloc(48) : next(depth, path);
  return block;
}

long peak_resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = -1;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "VmHWM: %ld kB", &kilobytes) == 1) break;
  if (file != nullptr) std::fclose(file);
  return kilobytes * 1024;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int threads = std::atoi(argv[1]);
  const int bits = std::atoi(argv[2]);
  const auto alive = static_cast<std::size_t>(std::atoll(argv[3]));
  std::latch all_are_done(threads);
  const auto work = [&] {
    std::vector<void*> blocks(alive);
    std::size_t last = 0;
    for (unsigned path = 0; path < 1U << bits; ++path) {
      void*& block = blocks[last++ % alive];
      std::free(block);
      block = by_odd(bits, path);
    }
    for (; last < alive; ++last) blocks[last] = by_odd(bits, 0);
    all_are_done.arrive_and_wait();
    for (void* block : blocks) std::free(block);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  std::printf("%ld\n", peak_resident_bytes());
}
