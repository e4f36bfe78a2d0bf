#include "base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace memduel {
namespace {

/// Threads that are started meanwhile get no signals: those are the first thread's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

std::size_t cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

/// Fewer than `count` where the system gives no more.
std::vector<std::jthread> start(std::size_t count, const std::function<void()>& work) {
  std::vector<std::jthread> threads;
  const SignalsBlocked blocked;
  try {
    while (threads.size() < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
    return threads;
  }
  return threads;
}

}  // namespace

void run_parallel(std::size_t count, const std::function<void(std::size_t)>& run) {
  if (count == 0) return;
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        run(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> others = start(std::min(count, cores()) - 1, work);
  work();
  others.clear();  // waits for them
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace memduel
