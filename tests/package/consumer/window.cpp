#include <memduel/annotate.h>
#include <memduel/heap_window.h>

#include <cstdio>
#include <cstdlib>

int main() {
  memduel_round_begin(1);
  memduel_recorder_window_begin(1);
  void* volatile block = std::malloc(100'000);
  memduel_heap_window window;
  memduel_recorder_window_end(&window);
  std::free(block);
  memduel_round_end(1);
  std::printf("allocations %d, bytes %d\n", static_cast<int>(window.allocations),
              static_cast<int>(window.allocated_bytes));
  return 0;
}
