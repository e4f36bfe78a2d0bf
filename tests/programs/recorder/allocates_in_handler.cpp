// A signal handler allocates and frees, often in the middle of the recorder's own work. Each side's
// size has a bin of its own in libc, where it leaves one free block: nobody interrupts libc itself.
// Prints how many pairs there were in round 1.
#include <sys/time.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "memduel/annotate.h"

namespace {

constexpr int kSignals = 200;
volatile std::sig_atomic_t signals = 0;

void allocate_here(int /*signal*/) {
  free(malloc(200));
  signals = signals + 1;
}

void set_timer(long microseconds) {
  itimerval every{};
  every.it_interval.tv_usec = every.it_value.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &every, nullptr);
}

}  // namespace

int main() {
  std::signal(SIGALRM, allocate_here);
  free(malloc(100));
  free(malloc(200));
  memduel_round_begin(1);
  set_timer(200);
  long pairs = 0;
  for (; signals < kSignals; ++pairs) free(malloc(100));
  set_timer(0);
  memduel_round_end(1);
  std::printf("%ld\n", pairs + signals);
}
