// Prints what the allocator of this process says about itself before, between and after steps whose
// effect on it is known: one line of "name value" words per step, after the step's name.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "memduel/allocator.h"

namespace {

using Blocks = std::vector<char*>;

void say(const char* step) {
  const memduel::AllocatorState state = memduel::allocator_state();
  std::printf("%s", step);
  for (const auto& [name, value] : state.metrics())
    if (value) std::printf(" %s %lld", name, static_cast<long long>(*value));
  std::printf("\n");
}

void allocate(Blocks& blocks, std::size_t bytes) {
  for (char*& block : blocks) {
    block = static_cast<char*>(std::malloc(bytes));
    std::memset(block, 1, bytes);
  }
}

void release(Blocks& blocks) {
  for (char* block : blocks) std::free(block);
}

}  // namespace

int main() {
  // Not on the heap that is looked at.
  static char output[4096];
  std::setvbuf(stdout, output, _IOFBF, sizeof output);
  Blocks small(20'000);
  Blocks large(100);
  std::printf("allocator %s\n", memduel::name_of(memduel::allocator_type()));
  say("begin");
  allocate(small, 1000);
  say("small");
  release(small);
  say("small_freed");
  allocate(large, 1'000'000);
  say("large");
  release(large);
  say("large_freed");
  // What a thread leaves when it ends.
  std::thread([&small] { allocate(small, 1000); }).join();
  say("of_a_thread");
  std::fflush(stdout);
  std::_Exit(0);
}
