#include "recorder/witness_log.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(WitnessLog, AShimThatExecutesItsProgramIsOneProcessOfTwoImages) {
  const WitnessLog log = read_witness_log(
      "start 7 /lib/libjemalloc.so.2\t/usr/bin/env\n"
      "exec 7 kept /opt/my program\n"
      "start 7 /lib/libjemalloc.so.2\t/opt/my program\n");
  ASSERT_EQ(log.images.size(), 2U);
  EXPECT_TRUE(log.silent.empty());
  ASSERT_NE(log.last_of(7), nullptr);
  EXPECT_EQ(log.last_of(7)->program, "/opt/my program");
  EXPECT_EQ(log.last_of(7)->provider, "/lib/libjemalloc.so.2");
  EXPECT_EQ(log.last_of(8), nullptr);
}

TEST(WitnessLog, WhatIsExecutedAndSaysNothingIsSilent) {
  const WitnessLog log = read_witness_log(
      "start 7 /lib/a.so\t/usr/bin/env\n"
      "exec 7 cleaned ./server\n");
  EXPECT_EQ(log.last_of(7), nullptr) << "its last image is another";
  ASSERT_NE(log.silent_of(7), nullptr);
  EXPECT_EQ(log.silent_of(7)->program, "./server");
  EXPECT_TRUE(log.silent_of(7)->cleaned);
}

TEST(WitnessLog, AnExecThatFailsChangesNothing) {
  const WitnessLog log = read_witness_log(
      "start 7 /lib/a.so\t/bin/sh\n"
      "exec 7 kept /usr/local/bin/x\nstayed 7\n"
      "exec 9 kept /usr/local/bin/x\nstayed 9\n");
  EXPECT_EQ(log.last_of(7)->program, "/bin/sh");
  EXPECT_TRUE(log.silent.empty()) << "nor in a forked child, 9, which has no line of its own";
}

TEST(WitnessLog, ASpawnedChildMaySpeakBeforeItsParent) {
  const WitnessLog log = read_witness_log(
      "start 8 /lib/a.so\t/bin/x\nspawn 8 kept /bin/x\n"
      "spawn 9 kept /bin/x\nstart 9 /lib/a.so\t/bin/x\n"
      "spawn 10 kept /sbin/ldconfig\n");
  EXPECT_NE(log.last_of(8), nullptr);
  EXPECT_NE(log.last_of(9), nullptr);
  ASSERT_EQ(log.silent.size(), 1U);
  EXPECT_EQ(log.silent[0].program, "/sbin/ldconfig");
  EXPECT_FALSE(log.silent[0].cleaned);
}

TEST(WitnessLog, CountsLinesThatAreNone) {
  for (const char* line :
       {"start", "start x /lib/a.so\t/x", "start 7 /lib/a.so", "exec 7 maybe /x", "exec 7 kept ",
        "stayed 7 8", "begin 7", "", "start -7 a\tb", "start 7x a\tb"})
    EXPECT_EQ(read_witness_log(std::string(line) + "\n").garbage_lines, 1) << line;
  EXPECT_EQ(read_witness_log("").garbage_lines, 0);
}

}  // namespace
}  // namespace memduel
