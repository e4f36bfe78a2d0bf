#include "util/error.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "util/process.h"

namespace memduel {
namespace {

TEST(Error, MessageNamesThePlaceThenTheFaultThenTheAdvice) {
  const Error error(ExitCode::usage, "unknown key \"round\"", "quickstart.json: /workload",
                    "did you mean \"rounds\"?");
  EXPECT_EQ(error.message(),
            "quickstart.json: /workload: unknown key \"round\"\n  did you mean \"rounds\"?");
  EXPECT_EQ(error.code(), ExitCode::usage);
}

TEST(Error, MessageWithoutPlaceAndAdviceIsTheFaultAlone) {
  EXPECT_EQ(Error(ExitCode::io, "disk full").message(), "disk full");
}

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

TEST(StopRequest, NamesTheFirstSignal) {
  StopRequest stop;
  EXPECT_FALSE(stop.asked());
  stop.take(SIGHUP);
  stop.take(SIGINT);
  EXPECT_TRUE(stop.asked());
  EXPECT_EQ(stop.error("stopped", "here").code(), ExitCode::terminated);
  EXPECT_EQ(stop.error("stopped", "here").where(), "here");
  StopRequest interrupted;
  interrupted.take(SIGINT);
  EXPECT_EQ(interrupted.error("stopped").code(), ExitCode::interrupted);
}

TEST(StopRequest, OnlyASecondInterruptAsksForHaste) {
  StopRequest stop;
  stop.take(SIGHUP);
  stop.take(SIGHUP);
  stop.take(SIGTERM);
  stop.take(SIGINT);
  EXPECT_FALSE(stop.asked_for_haste());
  stop.take(SIGINT);
  EXPECT_TRUE(stop.asked_for_haste());
}

TEST(ListenForSignals, LeavesIgnoredOnesIgnored) {
  const pid_t child = fork();  // this process's own request is for helpers of other tests, too
  if (child == 0) {
    std::signal(SIGHUP, SIG_IGN);
    const StopRequest& stop = listen_for_signals();
    std::raise(SIGHUP);
    const bool is_asked_too_early = stop.asked();
    std::raise(SIGTERM);
    _exit(!is_asked_too_early && own_stop_request().asked() ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

}  // namespace
}  // namespace memduel
