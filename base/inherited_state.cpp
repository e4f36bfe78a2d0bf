#include "base/inherited_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace memduel {
namespace {

extern "C" void ignore_signal(int /*number*/) {}

void reserve_standard_descriptors() {
  int opened = 0;
  do {
    opened = ::open("/dev/null", O_RDWR);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened > STDERR_FILENO) ::close(opened);
}

void let_writing_fail() {
  // A handler, unlike SIG_IGN, is not inherited by the programs that are measured.
  struct sigaction action = {};
  action.sa_handler = ignore_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);
}

void hear_children_and_people() {
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t heard;
  sigemptyset(&heard);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&heard, number);
  sigprocmask(SIG_UNBLOCK, &heard, nullptr);
}

}  // namespace

void undo_inherited_state() noexcept {
  reserve_standard_descriptors();
  let_writing_fail();
  hear_children_and_people();
}

}  // namespace memduel
