// A library that fills a table before main and empties it after the program's last destructor.
#include <cstdlib>

namespace {

constexpr int kBlocks = 100;
void* blocks[kBlocks];

[[gnu::noinline]] void fill_table() {
  for (void*& block : blocks) block = malloc(10'000);
}

__attribute__((constructor)) void begin() {
  fill_table();
}

__attribute__((destructor)) void end() {
  for (void* block : blocks) free(block);
}

}  // namespace

extern "C" int blocks_of_the_library() {
  return kBlocks;
}
