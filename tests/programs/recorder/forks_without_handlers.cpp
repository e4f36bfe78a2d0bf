// Children of forks that call no handlers allocate beside their parent. Prints how often the parent
// allocated in round 1, and how many bytes.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "memduel/annotate.h"

namespace {

constexpr int kBlocks = 20'000;
constexpr int kBytes = 100;

void allocate_in_parent() {
  for (int i = 0; i < kBlocks; ++i) {
    void* volatile block = malloc(kBytes);
    static_cast<void>(block);
  }
}

[[noreturn]] void allocate_in_child() {
  for (int i = 0; i < kBlocks; ++i) {
    void* volatile block = malloc(2 * kBytes);
    if (i % 2 == 0) free(block);
  }
  _exit(0);
}

}  // namespace

int main() {
  memduel_round_begin(1);
  int failures = 0;
  for (int i = 0; i < 2; ++i) {
    const pid_t pid =
        i == 0 ? _Fork() : static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (pid == 0) allocate_in_child();
    allocate_in_parent();
    int status = 0;
    waitpid(pid, &status, 0);
    failures += status != 0;
  }
  memduel_round_end(1);
  printf("%d %d\n", 2 * kBlocks, 2 * kBlocks * kBytes);
  return failures;
}
