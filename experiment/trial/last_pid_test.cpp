#include "experiment/trial/last_pid.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace memduel {
namespace {

TEST(LastPid, MovesWhenAProcessIsMade) {
  LastPid last;
  last.moved();
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(last.moved());
  }
}

}  // namespace
}  // namespace memduel
