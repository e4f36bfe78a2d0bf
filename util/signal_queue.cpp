#include "util/signal_queue.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace memduel {

SignalQueue::SignalQueue(const std::vector<int>& numbers) {
  sigset_t queued;
  sigemptyset(&queued);
  for (const int number : numbers) sigaddset(&queued, number);
  sigprocmask(SIG_BLOCK, &queued, &before_);
  descriptor_ = Descriptor(signalfd(-1, &queued, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalQueue::~SignalQueue() {
  while (next()) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> SignalQueue::next() {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace memduel
