#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace memduel {
namespace {

TEST(Parallel, RunsEveryNumberOnce) {
  for (const std::size_t count : {0U, 1U, 3U, 1000U}) {
    std::vector<std::atomic<int>> times(count);
    run_parallel(count, [&](std::size_t i) { ++times[i]; });
    for (const auto& one : times) EXPECT_EQ(one, 1);
  }
}

TEST(Parallel, DoesAllAndThrowsWhatTheFirstThrew) {
  std::atomic<int> done = 0;
  const auto fails_twice = [&](std::size_t i) {
    ++done;
    if (i == 3 || i == 7) throw std::runtime_error(std::to_string(i));
  };
  try {
    run_parallel(10, fails_twice);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
  EXPECT_EQ(done, 10);
}

TEST(Parallel, UsesTheThreadThatAsks) {
  std::set<std::thread::id> threads;
  run_parallel(1, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace memduel
