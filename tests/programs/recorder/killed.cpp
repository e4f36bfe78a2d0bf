// Allocates until it is killed, and keeps a ledger of it:
//   killed LEDGER threads N     N threads at once
//   killed LEDGER forks         processes that end in several ways, four at a time
//   killed LEDGER handler       a timer's handler interrupts it; SIGUSR1 ends it by _exit in a
//   handler
#include <sys/time.h>
#include <sys/wait.h>

#include <csignal>
#include <string_view>
#include <thread>
#include <vector>

#include "ledger.h"

namespace {

constexpr unsigned kBlocks = 64;

[[noreturn]] void allocate_forever(Slot& slot, unsigned random) {
  Block blocks[kBlocks];
  for (;;) replace_block(slot, blocks, kBlocks, random);
}

[[noreturn]] void run_threads(Slot* slots, int count) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 1; i < count; ++i)
    threads.emplace_back([=] { allocate_forever(slots[i], static_cast<unsigned>(i)); });
  allocate_forever(slots[0], 0);
}

void run_child(Slot& slot, unsigned number) {
  Block blocks[kBlocks];
  for (unsigned i = 0, random = number; i < 2000; ++i) replace_block(slot, blocks, kBlocks, random);
  if (number % 3 == 0) _exit(0);
  if (number % 3 == 1) std::exit(0);
  raise(SIGKILL);
}

[[noreturn]] void run_forks(Slot* slots) {
  for (unsigned number = 1;; ++number) {
    if (number > 4) wait(nullptr);
    if (number == kSlots) pause();
    if (fork() == 0) run_child(slots[number], number);
  }
}

void map_and_unmap(int /*signal*/) {
  constexpr std::size_t kBytes = 1 << 20;
  munmap(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), kBytes);
}

void leave(int /*signal*/) {
  _exit(0);
}

[[noreturn]] void run_with_handler(Slot* slots) {
  std::signal(SIGALRM, map_and_unmap);
  std::signal(SIGUSR1, leave);
  itimerval every{};
  every.it_interval.tv_usec = every.it_value.tv_usec = 500;
  setitimer(ITIMER_REAL, &every, nullptr);
  allocate_forever(slots[0], 0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  Slot* slots = open_ledger(arguments[1]);
  const std::string_view what = arguments[2];
  if (what == "threads" && count > 3) run_threads(slots, std::atoi(arguments[3]));
  if (what == "forks") run_forks(slots);
  if (what == "handler") run_with_handler(slots);
  return 2;
}
