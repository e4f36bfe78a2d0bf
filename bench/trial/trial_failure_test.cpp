#include "trial_failure.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "util/file.h"

namespace memduel {
namespace {

std::string tail_of(const std::string& text, std::size_t lines, std::size_t bytes) {
  const ScratchDirectory scratch(testing::TempDir(), "log_tail");
  const std::filesystem::path path = scratch.path() / "log";
  std::ofstream(path, std::ios::binary) << text;
  return log_tail(path, lines, bytes);
}

TEST(LogTail, GivesTheLastLines) {
  EXPECT_EQ(tail_of("one\ntwo\nthree\n", 2, 100), "two\nthree");
  EXPECT_EQ(tail_of("one\ntwo\nthree", 9, 100), "one\ntwo\nthree");
  EXPECT_EQ(tail_of("one", 1, 100), "one");
  EXPECT_EQ(tail_of("\n\n\n", 3, 100), "");
  EXPECT_EQ(tail_of("a\n\nb\n", 2, 100), "\nb");
}

TEST(LogTail, IsBoundedInBytes) {
  EXPECT_EQ(tail_of(std::string(5000, 'x'), 9, 16).size(), 16U);
}

TEST(LogTail, HidesControlBytesFromTheTerminal) {
  EXPECT_EQ(tail_of("red \x1b[31m\tü\n", 1, 100), "red ?[31m\tü");
}

TEST(LogTail, OfAMissingFileIsEmpty) {
  EXPECT_EQ(log_tail("/nonexistent/log"), "");
}

TEST(LogTail, BytesThatAreNotUtf8AndCharactersCutInTwoAreReplaced) {
  EXPECT_EQ(tail_of("caf\xe9 noir", 9, 100), "caf\xEF\xBF\xBD noir");
  EXPECT_EQ(tail_of("\xc3\xa9x", 9, 2), "\xEF\xBF\xBDx");
}

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
