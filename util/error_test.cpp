#include "base/standard_error.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/inherited_state.h"

namespace memduel {
namespace {

/// The status of a child whose standard error is `device`, or closed without one.
int status_of_child(const char* device) {
  const pid_t child = fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    if (device != nullptr && ::open(device, O_WRONLY) != STDERR_FILENO) _exit(9);
    say("lost\n");
    undo_inherited_state();
    say("lost, too\n");
    _exit(::fcntl(STDERR_FILENO, F_GETFD) >= 0 ? 7 : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Say, EndsNothingWhereNothingCanBeWritten) {
  EXPECT_EQ(status_of_child("/dev/full"), 7);
  EXPECT_EQ(status_of_child(nullptr), 7) << "a closed descriptor is reserved";
}

TEST(Say, SurvivesAPipeThatNobodyReads) {
  const pid_t child = fork();
  if (child == 0) {
    int ends[2];
    if (::pipe(ends) != 0) _exit(9);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    undo_inherited_state();
    say("nobody reads this\n");
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

}  // namespace
}  // namespace memduel
