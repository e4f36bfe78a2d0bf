#include "experiment/watch/watch_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace memduel {
namespace {

bool is_ignored(int number) {
  struct sigaction action{};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

WatchSignals::WatchSignals() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) {
    if (!is_ignored(number)) sigaddset(&watched, number);
  }
  sigprocmask(SIG_BLOCK, &watched, &before_);
  pipe_before_ = signal(SIGPIPE, SIG_IGN);
  descriptor_ = Descriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

WatchSignals::~WatchSignals() {
  signal(SIGPIPE, pipe_before_);
  while (next()) {  // those that came too late to matter
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> WatchSignals::next() {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace memduel
