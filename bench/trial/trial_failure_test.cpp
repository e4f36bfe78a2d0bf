#include "experiment/trial/exit_verdict.h"

#include <gtest/gtest.h>

#include <csignal>

namespace memduel {
namespace {

ExitRecord with_status(int status) {
  ExitRecord exit;
  exit.status = status;
  return exit;
}

ExitRecord with_signal(int signal) {
  ExitRecord exit;
  exit.signal = signal;
  return exit;
}

const ExitContext kReady = {true, false, false, {}, {}};
const ExitContext kStopped = {true, true, false, {}, {}};

TEST(EndedWell, OnlyAllowedStatusesCount) {
  ProcessSpec spec;
  EXPECT_TRUE(ended_well(spec, with_status(0), kReady));
  EXPECT_FALSE(ended_well(spec, with_status(1), kReady));
  spec.exit_statuses = {1};
  EXPECT_TRUE(ended_well(spec, with_status(1), kReady));
  EXPECT_FALSE(ended_well(spec, with_status(0), kReady));
}

TEST(EndedWell, BeingStoppedIsSuccess) {
  const ProcessSpec spec;
  EXPECT_TRUE(ended_well(spec, with_signal(SIGTERM), kStopped));
  EXPECT_TRUE(ended_well(spec, with_signal(SIGKILL), kStopped));
  EXPECT_TRUE(ended_well(spec, with_status(143), kStopped));
  EXPECT_FALSE(ended_well(spec, with_signal(SIGSEGV), kStopped));
  EXPECT_FALSE(ended_well(spec, with_status(1), kStopped));
  EXPECT_FALSE(ended_well(spec, with_signal(SIGTERM), kReady));
}

TEST(EndedWell, AfterTheLastRoundEveryStatusIsSuccessButACrashIsNot) {
  ExitContext stopped = kStopped;
  stopped.after_last_round = true;
  EXPECT_TRUE(ended_well({}, with_status(1), stopped));
  EXPECT_FALSE(ended_well({}, with_signal(SIGSEGV), stopped));
}

TEST(DescribeExit, SaysSignalRoundAndMemory) {
  EXPECT_EQ(describe_exit(with_status(3), {true, false, false, 4, {}}),
            "exited with status 3 in round 4");
  EXPECT_EQ(describe_exit(with_signal(SIGKILL), {true, false, true, 16, {}}),
            "was killed for memory in round 16");
  EXPECT_EQ(describe_exit(with_signal(SIGKILL), kReady), "was ended by signal 9 (Killed)");
  EXPECT_EQ(describe_exit(with_status(1), {true, false, true, {}, {}}),
            "exited with status 1 after the kernel killed one of its processes for memory");
  EXPECT_EQ(describe_exit(with_status(0), {false, false, false, {}, "the file x"}),
            "exited with status 0 before it was ready; waited for the file x");
}

}  // namespace
}  // namespace memduel
