// The recorder's core as a plain library, so that sanitizers can watch it; the preload library
// itself is tested by tests/recorder.
#include <execinfo.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "profilers/recorder/blocks.h"
#include "profilers/recorder/counters.h"
#include "profilers/recorder/sampler.h"
#include "profilers/recorder/stacks.h"
#include "profilers/recorder/unwind.h"

namespace memduel::recorder {

__thread ThreadState tls;  // the library's own lies with its hooks

namespace {

void* address(std::uint64_t number) {
  return reinterpret_cast<void*>(0x7f0000000000 + number * 16);
}

TEST(SampledBlocks, AreASetThatEveryFreeSees) {
  ASSERT_TRUE(make_filter());
  std::set<std::uint64_t> oracle;
  std::mt19937_64 random(1);
  for (int step = 0; step < 200000; ++step) {
    const std::uint64_t number = random() % 20000;
    if (random() % 2 == 0) {
      EXPECT_EQ(insert_block(address(number)), oracle.insert(number).second);
    } else {
      EXPECT_EQ(erase_block(address(number)), oracle.erase(number) == 1);
    }
  }
  for (const std::uint64_t number : oracle)
    EXPECT_NE(filter_of(address(number)), 0) << "a free must not pass by a sample";
  forget_blocks();
  for (const std::uint64_t number : oracle) EXPECT_FALSE(erase_block(address(number)));
}

TEST(StackNodes, AreOnePerParentAndFrame) {
  std::map<std::pair<std::uint32_t, FrameWord>, std::uint32_t> oracle;
  std::mt19937_64 random(2);
  std::uint32_t parent = 0;
  for (int step = 0; step < 100000; ++step) {
    if (step % 20 == 0) parent = 0;
    const FrameWord frame = random() % 8;
    bool made = false;
    const std::uint32_t node = find_or_make_node(parent, frame, made);
    const auto [at, is_new] = oracle.try_emplace({parent, frame}, node);
    EXPECT_EQ(made, is_new);
    ASSERT_EQ(at->second, node);
    parent = node;
  }
  EXPECT_GT(oracle.size(), 10000U) << "the table has grown";
  restart_nodes();
}

TEST(Sampler, LogarithmAgreesWithTheLibrarys) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int step = 0; step < 100000; ++step) {
    const double u = 1 - uniform(random);
    EXPECT_NEAR(negative_log(u), -std::log(u), 1e-9);
  }
}

// Mean and variance of the exponential distribution, and its median ln 2 times the mean.
TEST(Sampler, DrawsExponentialIntervals) {
  settings.mode = Mode::sampled;
  settings.interval_bytes = 1'000'000;
  seed_thread(7, 1);
  constexpr int kDraws = 200000;
  const auto mean = static_cast<double>(settings.interval_bytes);
  double sum = 0;
  double squares = 0;
  int below_median = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto interval = static_cast<double>(draw_interval());
    sum += interval;
    squares += interval * interval;
    below_median += interval < mean * std::log(2.0) ? 1 : 0;
  }
  // Four standard errors: mean / sqrt(n), mean^2 sqrt(20) / sqrt(n), 0.5 / sqrt(n).
  const double error = 4 / std::sqrt(kDraws);
  EXPECT_NEAR(sum / kDraws / mean, 1, error);
  EXPECT_NEAR(squares / kDraws / (mean * mean), 2, error * std::sqrt(20.0));
  EXPECT_NEAR(static_cast<double>(below_median) / kDraws, 0.5, error / 2);
  settings.mode = Mode::count;
}

struct TwoWalks {
  std::vector<std::uintptr_t> own;
  std::vector<std::uintptr_t> libgcc;
};
TwoWalks walks;

// The walker leaves its own code out up to the first foreign frame, which here is qsort's.
int walk_both(const void* /*a*/, const void* /*b*/) {
  NativeFrame frames[256];
  const int count = unwind_stack(frames, 256);
  walks = {};
  for (int i = 0; i < count; ++i) walks.own.push_back(frames[i].ip);
  void* addresses[256];
  const int expected = backtrace(addresses, 256);
  for (int i = 0; i < expected; ++i)
    walks.libgcc.push_back(reinterpret_cast<std::uintptr_t>(addresses[i]));
  return 0;
}

[[gnu::noinline]] void walk_below(int depth) {
  if (depth > 0) {
    walk_below(depth - 1);
  } else {
    int two[] = {1, 2};
    qsort(two, 2, sizeof(int), walk_both);
  }
  asm volatile("" ::: "memory");  // not a tail call
}

TEST(Unwinding, FindsTheFramesThatLibgccFinds) {
  walk_below(50);
  ASSERT_GT(walks.libgcc.size(), 55U);
  for (std::size_t i = 1; i <= 53; ++i) {
    ASSERT_LE(i, walks.own.size());
    EXPECT_EQ(walks.own[walks.own.size() - i], walks.libgcc[walks.libgcc.size() - i] - 1)
        << i << " from the outermost; an address inside the call, not behind it";
  }
}

TEST(Counters, AddUpOverThreads) {
  constexpr int kThreads = 8;
  constexpr int kSteps = 20000;
  const HeapPage before = *page;
  std::vector<std::int64_t> kept(kThreads);
  std::vector<std::int64_t> highest(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(static_cast<std::uint64_t>(thread));
      std::int64_t live = 0;
      for (int step = 0; step < kSteps; ++step) {
        const auto bytes = static_cast<std::int64_t>(random() % 5000);
        const bool grows = live < 10000 || random() % 2 == 0;
        live += grows ? bytes : -bytes;
        tls.room -= grows ? bytes : -bytes;
        if (tls.room < 0) {
          tls.high -= tls.room;
          tls.room = 0;
        }
        highest[static_cast<std::size_t>(thread)] =
            std::max(highest[static_cast<std::size_t>(thread)], live);
        tls.allocations += grows ? 1 : 0;
        if (tls.high >= tls.publish_at || tls.room > tls.limit) publish();
      }
      publish();
      kept[static_cast<std::size_t>(thread)] = live;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::int64_t sum = 0;
  std::int64_t bound = 0;
  for (const std::int64_t each : kept) sum += each;
  for (const std::int64_t each : highest) bound += each;
  EXPECT_EQ(page->live_bytes - before.live_bytes, sum);
  EXPECT_GE(page->peak_bytes, page->live_bytes);
  EXPECT_LE(page->peak_bytes, before.live_bytes + bound + kThreads * kPublishBytes);
  EXPECT_GT(page->allocations, before.allocations);
}

}  // namespace
}  // namespace memduel::recorder
