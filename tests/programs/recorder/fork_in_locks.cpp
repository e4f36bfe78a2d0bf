// Forks again and again while other threads are inside everything the recorder locks: 32,768
// mappings of a page of which one after the other is replaced, blocks with their stacks, rounds and
// phases. Behind the pages lies a mapping of 1 GiB, which is lost, or there twice, in a list that
// is copied while its tail moves. A child gives back all that it inherited and allocates; it dies
// by its alarm where a lock came along held.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "memduel/annotate.h"

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 32768;
constexpr std::size_t kBehindBytes = std::size_t{1} << 30;
constexpr int kForks = 30;

std::atomic<bool> running{true};
char* region;

// What is given back stays reserved, so that nobody else moves in.
void set(std::size_t first, std::size_t bytes, int protection) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (mmap(region + first, bytes, protection, kFlags, -1, 0) != region + first) abort();
}

void set_page(std::size_t page) {
  set(page * kPage, kPage, PROT_READ | PROT_WRITE);
}

void give_all_back() {
  set(0, kPages * kPage + kBehindBytes, PROT_NONE);
}

void reserve() {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = mmap(nullptr, kPages * kPage + kBehindBytes, PROT_NONE, kFlags, -1, 0);
  if (at == MAP_FAILED) abort();
  region = static_cast<char*>(at);
  set(kPages * kPage, kBehindBytes, PROT_READ | PROT_WRITE);
  for (std::size_t page = 0; page < kPages; ++page) set_page(page);
}

void change_mappings(unsigned seed) {
  std::mt19937 random(seed);
  while (running) set_page(random() % kPages);
}

void churn() {
  while (running) {
    std::vector<std::vector<char>> blocks;
    for (std::size_t i = 0; i < 20; ++i) blocks.emplace_back(100 * (i + 1));
  }
}

void move_scopes() {
  for (int round = 1; running; ++round) {
    memduel_round_begin(round);
    memduel_phase("train");
    memduel_round_end(round);
  }
}

[[noreturn]] void child() {
  alarm(30);
  std::vector<char>(1'000'000).shrink_to_fit();
  give_all_back();
  memduel_round_begin(1);
  _exit(0);
}

}  // namespace

int main() {
  reserve();
  std::vector<std::thread> threads;
  for (const unsigned seed : {1U, 2U}) threads.emplace_back(change_mappings, seed);
  threads.emplace_back(churn);
  for (int i = 0; i < 4; ++i) threads.emplace_back(move_scopes);
  int status = 0;
  for (int i = 0; i < kForks && status == 0; ++i) {
    const pid_t pid = fork();
    if (pid == 0) child();
    waitpid(pid, &status, 0);
  }
  running = false;
  for (auto& thread : threads) thread.join();
  give_all_back();
  return status == 0 ? 0 : 1;
}
