// What the tools record for the readers' tests: a leak, a peak, and temporary blocks, in functions
// that are told apart, with sizes that can be added up by hand.
#include <cstddef>
#include <cstdlib>
#include <vector>

volatile std::size_t kept;

__attribute__((noinline)) void* allocate(std::size_t bytes) {
  char* block = static_cast<char*>(std::malloc(bytes));
  block[0] = 1;
  return block;
}

// 10 blocks of 1000 bytes, never freed.
__attribute__((noinline)) void leak() {
  for (int i = 0; i < 10; ++i) kept += reinterpret_cast<std::size_t>(allocate(1000));
}

// 16 blocks of 64 KiB at once, all freed.
__attribute__((noinline)) void hold_all() {
  std::vector<void*> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(allocate(65536));
  for (void* block : blocks) std::free(block);
}

// 500 blocks of 32 bytes, one after the other.
__attribute__((noinline)) void come_and_go() {
  for (int i = 0; i < 500; ++i) std::free(allocate(32));
}

// 3 + 9 + 27 + … blocks from as many stacks: more text than a dump of gperftools has room for.
__attribute__((noinline)) void branch(int depth) {
  if (depth == 0) return;
  kept += reinterpret_cast<std::size_t>(allocate(16 * depth));
  branch(depth - 1);
  kept += depth;
  branch(depth - 1);
  kept += depth;
  branch(depth - 1);
  kept += depth;
}

#ifdef DUMP
void dump();  // of the tool that this program is linked with
#else
void dump() {}
#endif

int main(int arguments, char**) {
  leak();
  hold_all();
  come_and_go();
  if (arguments == 2) branch(9);
  dump();
}
