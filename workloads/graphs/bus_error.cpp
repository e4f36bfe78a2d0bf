#include "workloads/graphs/bus_error.h"

#include <unistd.h>

#include <functional>
#include <utility>

#include "base/error.h"

namespace memduel {

BusErrorLine::BusErrorLine(std::span<const std::byte> mapping, std::string line)
    : mapping_(mapping), line_(std::move(line) + "\n") {
  current = this;
  struct sigaction action{};
  action.sa_sigaction = &BusErrorLine::say;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, &before_);
}

BusErrorLine::~BusErrorLine() {
  ::sigaction(SIGBUS, &before_, nullptr);
  current = nullptr;
}

/// Calls only what a signal handler may.
void BusErrorLine::say(int signal, siginfo_t* info, void* /*context*/) {
  const std::less_equal<const void*> not_after;
  const std::byte* const begin = current->mapping_.data();
  if (info->si_code == BUS_ADRERR && not_after(begin, info->si_addr) &&
      !not_after(begin + current->mapping_.size(), info->si_addr)) {
    static_cast<void>(!::write(STDERR_FILENO, current->line_.data(), current->line_.size()));
    ::_exit(static_cast<int>(ExitCode::io));
  }
  ::sigaction(SIGBUS, &current->before_, nullptr);
  ::raise(signal);  // comes once this returns
}

}  // namespace memduel
