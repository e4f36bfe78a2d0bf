#include "util/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "util/file.h"

namespace memduel {
namespace {

/// What the program writes to its descriptor `number`.
std::string written_by(SpawnOptions options, int number = STDOUT_FILENO) {
  Pipe pipe = make_pipe();
  options.descriptors.emplace_back(pipe.into.get(), number);
  const SpawnResult started = spawn(options);
  EXPECT_GT(started.pid, 0) << std::strerror(started.error_number);
  EXPECT_GT(started.begin_ns, 0);
  pipe.into.reset();
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t got = 0; (got = ::read(pipe.from.get(), part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  waitpid(started.pid, nullptr, 0);
  return text;
}

SpawnOptions shell(const std::string& script) {
  SpawnOptions options;
  options.arguments = {"/bin/sh", "-c", script};
  return options;
}

void expect_failure(const SpawnOptions& options, SpawnStep step, int error_number) {
  const SpawnResult result = spawn(options);
  EXPECT_EQ(result.pid, 0);
  EXPECT_EQ(result.failed, step);
  EXPECT_EQ(result.error_number, error_number);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(Spawn, WhatFailsIsToldWithItsReason) {
  SpawnOptions program;
  program.arguments = {"/nowhere/program"};
  expect_failure(program, SpawnStep::execute, ENOENT);
  SpawnOptions directory = shell("true");
  directory.directory = "/nowhere";
  expect_failure(directory, SpawnStep::enter_directory, ENOENT);
  SpawnOptions group = shell("true");
  group.groups = {"/nowhere/cgroup.procs"};
  expect_failure(group, SpawnStep::join_groups, ENOENT);
  SpawnOptions descriptor = shell("true");
  descriptor.descriptors = {{1000, STDOUT_FILENO}};
  expect_failure(descriptor, SpawnStep::connect_descriptors, EBADF);
}

TEST(Spawn, TheProgramGetsTheChangedEnvironmentAndIsLookedUpInItsPath) {
  const ScratchDirectory place(::testing::TempDir(), "spawn");
  write_file_atomically(place.path() / "told", "#!/bin/sh\necho $A ${B-none} $0\n");
  std::filesystem::permissions(place.path() / "told", std::filesystem::perms::owner_all);
  ::setenv("A", "ours", 1);
  ::setenv("B", "ours", 1);
  SpawnOptions options;
  options.arguments = {"told"};
  options.environment = {"A=1", "A=2=3", "B", "PATH=" + place.path().string()};
  EXPECT_EQ(written_by(options), "2=3 none " + (place.path() / "told").string() + "\n");
  EXPECT_STREQ(std::getenv("A"), "ours");
  ::unsetenv("A");
  ::unsetenv("B");
}

TEST(Spawn, TheProgramGetsItsDescriptorsByTheirNumbers) {
  EXPECT_EQ(written_by(shell("echo seven >&7"), 7), "seven\n");
  const Descriptor kept(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  SpawnOptions same =
      shell("test -e /proc/self/fd/" + std::to_string(kept.get()) + " && echo kept");
  EXPECT_EQ(written_by(same), "");
  same.descriptors = {{kept.get(), kept.get()}, {-1, STDERR_FILENO}};
  EXPECT_EQ(written_by(same), "kept\n");
}

TEST(Spawn, OneThatIsContainedHasAGroupOfItsOwn) {
  const std::string group = "ps -o pgid= -p $$ | tr -d ' '";
  EXPECT_EQ(written_by(shell(group)), std::to_string(getpgrp()) + "\n");
  SpawnOptions contained = shell("test $(" + group + ") = $$ && echo own");
  contained.is_contained = true;
  EXPECT_EQ(written_by(contained), "own\n");
}

TEST(Spawn, TheProgramStartsWithTheSignalsBlockedThatItIsGiven) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  SpawnOptions options;
  options.arguments = {"sed", "-n", "s/SigBlk:.*\\(...\\)/\\1/p", "/proc/self/status"};
  EXPECT_EQ(written_by(options), "000\n");
  options.blocked = &blocked;
  EXPECT_EQ(written_by(options), "200\n");
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

// A kernel that makes no process in a group, as for a directory that is none, lets it join.
TEST(Spawn, TheProgramJoinsAGroupInWhichTheKernelMakesNoProcess) {
  const ScratchDirectory place(::testing::TempDir(), "spawn");
  const std::filesystem::path list = place.path() / "cgroup.procs";
  write_file_atomically(list, "");
  SpawnOptions options = shell("echo runs");
  options.group = place.path().string();
  EXPECT_EQ(written_by(options), "runs\n");
  EXPECT_EQ(read_file(list), "0");
  options.group = "/nowhere";
  expect_failure(options, SpawnStep::join_groups, ENOENT);
}

TEST(Spawn, TheProgramJoinsGroupsAndHasALimit) {
  const ScratchDirectory place(::testing::TempDir(), "spawn");
  const std::filesystem::path group = place.path() / "cgroup.procs";
  write_file_atomically(group, "");
  SpawnOptions options = shell("ulimit -d");
  options.groups = {group.string()};
  options.data_limit = std::uint64_t{512} << 20;
  EXPECT_EQ(written_by(options), "524288\n");
  EXPECT_EQ(read_file(group), "0");
}

}  // namespace
}  // namespace memduel
