#include "csfl/client_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "util/error.h"

namespace memduel {
namespace {

using testing::HasSubstr;

/// Of this process, as the kernel lists them.
std::set<int> children() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::set<int> all;
  for (int pid = 0; file >> pid;) all.insert(pid);
  return all;
}

std::string sum_of(const std::vector<std::size_t>& samples) {
  std::size_t sum = 0;
  for (const std::size_t one : samples) sum += one;
  return std::to_string(sum);
}

TEST(LoaderProcess, AnswersInTheOrderInWhichItIsAsked) {
  const LoaderProcess worker(sum_of);
  worker.ask({1, 2, 3});
  worker.ask({});
  worker.ask({40, 2});
  EXPECT_EQ(worker.answer(), "6");
  EXPECT_EQ(worker.answer(), "0");
  EXPECT_EQ(worker.answer(), "42");
}

TEST(LoaderProcess, GivesBatchesThatASocketDoesNotHold) {
  const LoaderProcess worker([](const std::vector<std::size_t>& samples) {
    return std::string(samples.at(0), static_cast<char>('a' + samples.at(1)));
  });
  worker.ask({3'000'000, 1});
  worker.ask({3'000'000, 2});
  EXPECT_EQ(worker.answer(), std::string(3'000'000, 'b'));
  EXPECT_EQ(worker.answer(), std::string(3'000'000, 'c'));
}

TEST(LoaderProcess, EndsWithItsOwnerWhateverOthersThereAre) {
  const std::set<int> before = children();
  auto first = std::make_unique<LoaderProcess>(sum_of);
  auto second = std::make_unique<LoaderProcess>(sum_of);
  EXPECT_EQ(children().size(), before.size() + 2);
  first.reset();  // of which the second was forked with the parent's end
  EXPECT_EQ(children().size(), before.size() + 1);
  second.reset();
  EXPECT_EQ(children(), before);
}

TEST(LoaderProcess, OneThatWasKilledIsAnError) {
  const std::set<int> before = children();
  const LoaderProcess worker(sum_of);
  for (const int pid : children())
    if (!before.contains(pid)) kill(pid, SIGKILL);
  worker.ask({1});
  try {
    static_cast<void>(worker.answer());
    FAIL() << "answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_measure);
    EXPECT_THAT(error.message(), HasSubstr("exited before its batch was ready"));
  }
}

}  // namespace
}  // namespace memduel
