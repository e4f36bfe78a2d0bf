// A signal handler forks, often in the middle of the recorder's own work, to which both sides then
// return. The parent leaves 1,000 blocks of 1,000 bytes behind in round 1 and prints what it
// allocated in that round; a child allocates a little more.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "memduel/annotate.h"

namespace {

constexpr int kForks = 40;
std::atomic<int> forks{0};
std::atomic<int> failures{0};
std::atomic<bool> is_child{false};

void fork_here(int /*signal*/) {
  if (forks == kForks) return;
  const pid_t pid = fork();
  if (pid == 0) {
    is_child = true;
    forks = kForks;
    return;
  }
  int status = 0;
  waitpid(pid, &status, 0);
  failures += status != 0;
  ++forks;
}

void set_timer(long microseconds) {
  itimerval every{};
  every.it_interval.tv_usec = every.it_value.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &every, nullptr);
}

}  // namespace

int main() {
  std::signal(SIGALRM, fork_here);
  memduel_round_begin(1);
  for (int i = 0; i < 1000; ++i) {
    if (malloc(1000) == nullptr) abort();
  }
  long pairs = 0;
  set_timer(700);
  for (; forks < kForks; ++pairs) free(malloc(100));
  if (is_child) {
    for (int i = 0; i < 100; ++i) free(malloc(100));
    return 0;
  }
  set_timer(0);
  memduel_round_end(1);
  std::printf("%ld %ld\n", 1000 + pairs, 1000 * 1000 + 100 * pairs);
  return failures;
}
