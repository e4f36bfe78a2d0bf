#include "base/inherited_state.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace memduel {
namespace {

/// The wait status of a process that does this.
int status_of(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(InheritedState, AChildsStatusIsThereWhereSigchldCameIgnored) {
  const int status = status_of([] {
    std::signal(SIGCHLD, SIG_IGN);
    undo_inherited_state();
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int found = 0;
    if (waitpid(child, &found, 0) != child) _exit(1);
    _exit(WEXITSTATUS(found));
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(InheritedState, ATerminationArrivesWhereItCameBlocked) {
  const int status = status_of([] {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    undo_inherited_state();
    raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

}  // namespace
}  // namespace memduel
