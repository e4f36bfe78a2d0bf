// Loses 64 bytes from each of 8192 stacks: more text than gperftools has room for in a dump.
#include <cstdlib>

#include "memduel/annotate.h"

namespace {

constexpr int kTurns = 13;
void* volatile lost;

void turn_left(int turns, unsigned path);
void turn_right(int turns, unsigned path);

[[gnu::noinline]] void go_on(int turns, unsigned path) {
  if (turns == 0) {
    lost = malloc(64);
  } else if ((path & 1U) != 0) {
    turn_right(turns - 1, path >> 1U);
  } else {
    turn_left(turns - 1, path >> 1U);
  }
}

[[gnu::noinline]] void turn_left(int turns, unsigned path) {
  go_on(turns, path);
}

[[gnu::noinline]] void turn_right(int turns, unsigned path) {
  go_on(turns, path);
}

}  // namespace

int main() {
  memduel_round_begin(1);
  for (unsigned path = 0; path < 1U << kTurns; ++path) go_on(kTurns, path);
  memduel_round_end(1);
}
