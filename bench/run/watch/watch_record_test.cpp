#include "watch_record.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>

namespace memduel {
namespace {

TEST(WatchTargets, LeaveOutWhatATitleLeavesOfTheArguments) {
  // As of a program that wrote a title over its arguments, and zeros behind it.
  const char* argv[] = {"/bin/sh", "-c", "kill -STOP $$", "", "", nullptr};
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, argv[0], nullptr, nullptr, const_cast<char* const*>(argv), nullptr),
            0);
  ASSERT_EQ(waitpid(pid, nullptr, WUNTRACED), pid) << "it runs, and has stopped";
  WatchOptions options;
  options.pids = {pid};
  const std::vector<WatchTarget> targets = watch_targets(options);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(targets[0].argv, (std::vector<std::string>{"/bin/sh", "-c", "kill -STOP $$"}));
  EXPECT_EQ(name_of(targets[0]), "pid " + std::to_string(pid) + " (/bin/sh -c kill -STOP $$)");
}

TEST(WatchHeader, ItsCommandWatchesTheSameAgain) {
  WatchOptions options;
  options.round_pattern = "Round (\\d+)";
  options.logs = {"my log"};
  options.command = {"python3", "train.py"};
  const RunHeader header = watch_header(options, watch_targets(options), std::nullopt);
  EXPECT_EQ(header.environment.at("reproduce"),
            "memduel watch --round-pattern 'Round (\\d+)' --log 'my log' -- python3 train.py");
}

}  // namespace
}  // namespace memduel
