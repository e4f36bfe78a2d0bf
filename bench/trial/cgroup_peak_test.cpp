#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial_metering.h"

namespace memduel {
namespace {

Mark round_mark_of(Mark::Kind kind, int round) {
  Mark mark;
  mark.kind = kind;
  mark.round = round;
  return mark;
}

/// In a process of the group: touches memory and gives it back.
void touch_in(const TrialCgroup& group, std::size_t bytes) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (join_cgroup(group) != 0) _exit(1);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  ASSERT_EQ(status, 0);
}

TEST(CgroupRounds, AreTheKernelsOwnHighWaterMarks) {
  const TrialCgroup group = create_cgroup("memduel-rounds-test");
  if (limit_cgroup(group, std::int64_t{4} << 30) != 0) {
    remove_cgroup(group);
    GTEST_SKIP() << "no control group can be made here";
  }
  constexpr double kMebibyte = 1 << 20;
  {
    CgroupRounds rounds(group);
    const double mebibytes[] = {60, 20, 40};
    for (int round = 1; round <= 3; ++round) {
      rounds.take(round_mark_of(Mark::Kind::round_begin, round));
      touch_in(group, static_cast<std::size_t>(mebibytes[round - 1] * kMebibyte));
      if (round != 2) rounds.take(round_mark_of(Mark::Kind::round_end, round));
    }
    touch_in(group, 90 << 20);  // between rounds
    rounds.take(round_mark_of(Mark::Kind::round_begin, 4));
    ASSERT_EQ(rounds.peaks().size(), 3U) << "the fourth has no end";
    for (int round = 1; round <= 3; ++round)
      EXPECT_NEAR(static_cast<double>(rounds.peaks().at(round)) / kMebibyte, mebibytes[round - 1],
                  4)
          << "and what the kernel keeps of a process beside";
    EXPECT_NEAR(static_cast<double>(rounds.largest_bytes()) / kMebibyte, 90, 4);
  }
  remove_cgroup(group);
}

/// Whatever the file says: version 2 before Linux 6.12 lets nobody write it.
TEST(CgroupRounds, OfAKernelThatTakesNoResetAreUnknown) {
  CgroupRounds rounds({"/sys/fs/cgroup/no-such-group", ""});
  rounds.take(round_mark_of(Mark::Kind::round_begin, 1));
  rounds.take(round_mark_of(Mark::Kind::round_end, 1));
  EXPECT_TRUE(rounds.peaks().empty());
}

TEST(CgroupRounds, WithoutAGroupTellNothing) {
  CgroupRounds rounds(TrialCgroup{});
  rounds.take(round_mark_of(Mark::Kind::round_begin, 1));
  rounds.take(round_mark_of(Mark::Kind::round_end, 1));
  EXPECT_TRUE(rounds.peaks().empty());
  EXPECT_EQ(rounds.largest_bytes(), 0);
}

}  // namespace
}  // namespace memduel
