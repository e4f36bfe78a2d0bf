// What a cleanup costs, by how much there is to give back: a row for each size of the heap.
//
//   memduel-bench-cleanup [REPEATS]                              glibc
//   LD_PRELOAD=libjemalloc.so.2 memduel-bench-cleanup [REPEATS]  another allocator
//
// A heap of blocks of 16 KiB is written and freed but for one block in 64. Medians of REPEATS (5):
// the first cleanup, with what resident memory fell by; a second one, which finds nothing new; and
// writing the same blocks again, where the heap was left alone and where it was cleaned up.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "memduel/memory.h"

namespace {

constexpr std::size_t kBlock = 16 * 1024;
constexpr double kMebi = 1 << 20;

/// CPU milliseconds that it takes.
template <class Work>
double milliseconds_of(Work work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  };
  const double begin = now();
  work();
  return now() - begin;
}

double rss_mebibytes() {
  const memduel::MemoryInfo info = memduel::memory_info({.pss = false});
  return static_cast<double>(info.rss_bytes.value_or(0)) / kMebi;
}

class Heap {
 public:
  explicit Heap(std::size_t blocks) : blocks_(blocks) { write(); }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() {
    for (void* block : blocks_) std::free(block);
  }

  /// What was freed.
  void write() {
    for (void*& block : blocks_) {
      if (block != nullptr) continue;
      block = std::malloc(kBlock);
      std::memset(block, 1, kBlock);
    }
  }

  void free_most() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (i % 64 == 63) continue;
      std::free(blocks_[i]);
      blocks_[i] = nullptr;
    }
  }

 private:
  std::vector<void*> blocks_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_row(std::size_t mebibytes, int repeats) {
  std::vector<double> first;
  std::vector<double> freed;
  std::vector<double> second;
  std::vector<double> kept;
  std::vector<double> refaulted;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Heap heap((mebibytes << 20) / kBlock);
    const auto write = [&] { heap.write(); };
    const auto clean_up = [] { memduel::cleanup_memory({.heap = memduel::HeapCleanup::purge}); };
    heap.free_most();
    kept.push_back(milliseconds_of(write));
    heap.free_most();
    const double before = rss_mebibytes();
    first.push_back(milliseconds_of(clean_up));
    freed.push_back(before - rss_mebibytes());
    second.push_back(milliseconds_of(clean_up));
    refaulted.push_back(milliseconds_of(write));
  }
  std::printf("| %zu | %.1f | %.3f | %.3f | %.2f | %.2f |\n", mebibytes, median(freed),
              median(first), median(second), median(kept), median(refaulted));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const int repeats = count > 1 ? std::atoi(arguments[1]) : 5;
  if (repeats < 1) {
    std::fprintf(stderr, "usage: memduel-bench-cleanup [REPEATS]: found %s\n", arguments[1]);
    return 2;
  }
  std::printf(
      "%s\n| heap, MiB | freed, MiB | cleanup, ms | again, ms | written, ms | written after "
      "a cleanup, ms |\n| --- | --- | --- | --- | --- | --- |\n",
      name_of(memduel::allocator_type()));
  for (const std::size_t mebibytes : {1U, 4U, 16U, 64U, 256U, 1024U}) print_row(mebibytes, repeats);
}
