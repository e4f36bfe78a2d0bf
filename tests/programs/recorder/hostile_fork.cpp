// Forks while four threads allocate; children allocate, fork again and leave in different ways.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> running{true};

void churn() {
  while (running) {
    std::vector<std::vector<char>> blocks;
    for (std::size_t i = 0; i < 50; ++i) blocks.emplace_back(100 * (i + 1));
  }
}

int child(int number) {
  void* volatile block = malloc(1'000'000);
  free(block);
  if (number % 3 == 0) _exit(0);
  if (number % 3 == 1) exit(0);
  const pid_t grandchild = fork();
  if (grandchild == 0) execl("/bin/true", "true", nullptr);
  int status = 0;
  waitpid(grandchild, &status, 0);
  _exit(WEXITSTATUS(status));
}

int run_after_vfork() {
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(churn);
  int failures = 0;
  for (int i = 0; i < 12; ++i) {
    const pid_t pid = fork();
    if (pid == 0) child(i);
    int status = 0;
    waitpid(pid, &status, 0);
    failures += status != 0;
  }
  failures += run_after_vfork() != 0;
  running = false;
  for (auto& thread : threads) thread.join();
  return failures;
}
