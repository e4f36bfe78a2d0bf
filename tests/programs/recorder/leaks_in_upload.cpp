// Five rounds of phases: `train` allocates and frees, `upload` loses 256 KiB a round, a cache made
// in round 1 stays, and a thread works in a phase of its own. With an argument nothing is lost.
#include <cstdlib>
#include <thread>
#include <vector>

#include "memduel/annotate.h"

namespace {

void* volatile sink;
std::vector<void*> cache;

[[gnu::noinline]] void train() {
  for (int i = 0; i < 100; ++i) {
    void* volatile block = malloc(100'000);
    free(block);
  }
}

[[gnu::noinline]] void leak_in_upload() {
  for (int i = 0; i < 64; ++i) sink = malloc(4096);
}

[[gnu::noinline]] void tidy_upload() {
  for (int i = 0; i < 64; ++i) {
    void* volatile block = malloc(4096);
    free(block);
  }
}

[[gnu::noinline]] void fill_cache() {
  for (int i = 0; i < 10; ++i) cache.push_back(malloc(50'000));
}

[[gnu::noinline]] void work_apart() {
  memduel_thread_phase("validate");
  sink = malloc(70'000);
  memduel_thread_phase(nullptr);
}

}  // namespace

int main(int argc, char** /*argv*/) {
  cache.reserve(16);
  for (int round = 1; round <= 5; ++round) {
    memduel_round_begin(round);
    memduel_phase("train");
    train();
    if (round == 1) fill_cache();
    memduel_phase("upload");
    if (argc > 1)
      tidy_upload();
    else
      leak_in_upload();
    std::thread(work_apart).join();
    memduel_round_end(round);
  }
}
