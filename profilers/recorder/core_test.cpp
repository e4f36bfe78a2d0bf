// The recorder's core as a plain library, so that sanitizers can watch it; the preload library
// itself is tested by tests/recorder.
#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "blocks.h"
#include "counters.h"
#include "page_scan.h"
#include "recorder/trace_records.h"
#include "sampler.h"
#include "stacks/loaded_objects.h"
#include "stacks/stacks.h"
#include "stacks/unwind.h"

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
    EXPECT_TRUE(may_be_sample(address(number))) << "a free must not pass by a sample";
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

TEST(StackNodes, AreNotFoundAfterTheyWereForgotten) {
  bool made = false;
  const std::uint32_t outer = find_or_make_node(kRootNode, 10, made);
  const std::uint32_t inner = find_or_make_node(outer, 20, made);
  forget_nodes();
  const std::uint32_t again = find_or_make_node(kRootNode, 10, made);
  EXPECT_TRUE(made);
  EXPECT_EQ(again, inner + 1) << "numbers go on";
  EXPECT_EQ(find_or_make_node(again, 20, made), again + 1);
  EXPECT_TRUE(made);
  EXPECT_EQ(find_or_make_node(again, 20, made), again + 1);
  EXPECT_FALSE(made);
  restart_nodes();
}

std::vector<std::pair<std::uint32_t, FrameWord>> told;

TEST(StackNodes, AreToldWhenTheyAreNeededAfterTheirParents) {
  told.clear();
  const auto note = [](std::uint32_t parent, FrameWord frame) { told.emplace_back(parent, frame); };
  bool made = false;
  const std::uint32_t unused = find_or_make_node(kRootNode, 90, made);
  const std::uint32_t outer = find_or_make_node(kRootNode, 10, made);
  const std::uint32_t inner = find_or_make_node(outer, 20, made);
  const std::uint32_t other = find_or_make_node(outer, 30, made);
  EXPECT_EQ(next_untold_node(), 1U);
  EXPECT_EQ(told_number(inner, note), 2U);
  EXPECT_EQ(told_number(other, note), 3U);
  EXPECT_EQ(told_number(inner, note), 2U) << "once";
  EXPECT_EQ(told_number(kRootNode, note), kRootNode);
  const std::vector<std::pair<std::uint32_t, FrameWord>> expected = {{0, 10}, {1, 20}, {1, 30}};
  EXPECT_EQ(told, expected);
  EXPECT_EQ(told_number(unused, note), 4U);
  restart_nodes();
}

std::vector<std::pair<std::uintptr_t, std::uintptr_t>> seen_runs;

/// What the kernel counts as resident of the mapping that begins at `begin`.
std::uintptr_t resident_pages_of_mapping(std::uintptr_t begin) {
  std::ifstream smaps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < line.find(' ')) inside = std::stoull(line, nullptr, 16) == begin;
    if (inside && line.starts_with("Rss:")) return std::stoull(line.substr(4)) * 1024 / kPageBytes;
  }
  ADD_FAILURE() << "no such mapping";
  return 0;
}

// Every third page is written, a part is only read, and the rest is left alone. Pages that were
// only read are resident where the kernel has no page of zeros to show.
TEST(PageScan, BothFormsFindTheWrittenPages) {
  constexpr std::uintptr_t kPages = 30000;  // several buffers of both forms
  constexpr std::uintptr_t kRead = 3000;
  auto* memory = static_cast<char*>(mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kPages * kPageBytes, MADV_NOHUGEPAGE);
  const auto first = reinterpret_cast<std::uintptr_t>(memory) / kPageBytes;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> written;
  for (std::uintptr_t page = 0; page < kPages - kRead; page += 3) {
    memory[page * kPageBytes] = 1;
    written.emplace_back(first + page, 1);
  }
  volatile char sum = 0;
  for (std::uintptr_t page = kPages - kRead; page < kPages; ++page)
    sum = sum + memory[page * kPageBytes];
  const int descriptor = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  const auto note = [](std::uintptr_t at, std::uintptr_t pages, bool file) {
    EXPECT_FALSE(file);
    seen_runs.emplace_back(at, pages);
  };
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t end = begin + (kPages - kRead) * kPageBytes;
  seen_runs.clear();
  scan_page_entries(descriptor, begin, end, note);
  EXPECT_EQ(seen_runs, written);
  seen_runs.clear();
  const bool zeros_apart = scan_pages(descriptor, begin, begin + kPages * kPageBytes, note);
  const std::uintptr_t resident = resident_pages_of_mapping(begin);
  if (resident > written.size()) written.emplace_back(first + kPages - kRead, kRead);
  if (zeros_apart) {
    EXPECT_EQ(seen_runs, written) << resident << " pages are resident";
  }
  seen_runs.clear();
  scan_page_entries(descriptor, end, begin + kPages * kPageBytes, note);
  std::uintptr_t read = 0;
  for (const auto& run : seen_runs) read += run.second;
  EXPECT_EQ(read, kRead) << "the form of old kernels has them";
  close(descriptor);
  munmap(memory, kPages * kPageBytes);
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

TEST(Sampler, BeginsDenseAndDoublesItsMeanUpToTheLast) {
  settings.mode = Mode::sampled;
  settings.interval_bytes = 20'000;
  settings.first_interval_bytes = 4096;
  restart_sampling();
  for (const std::uint64_t mean : {4096U, 8192U, 16384U, 20000U, 20000U}) {
    for (std::uint64_t sample = 0; sample < kSamplesAnInterval; ++sample) {
      draw_interval();
      EXPECT_EQ(tls.interval, mean);
      count_sample();
    }
  }
  restart_sampling();
  draw_interval();
  EXPECT_EQ(tls.interval, 4096U);
  settings.first_interval_bytes = 0;
  settings.mode = Mode::count;
}

struct TwoWalks {
  std::vector<std::uintptr_t> own;
  std::vector<std::uintptr_t> libgcc;
};
TwoWalks walks;
NativeStack native;

// The walker leaves its own code out up to the first foreign frame, which here is qsort's.
int walk_both(const void* /*a*/, const void* /*b*/) {
  walk_stack(native);
  walks = {};
  for (int i = native.count; i > 0; --i) walks.own.push_back(native.frames[i - 1].ip);
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
  look_up_find_object();
  walk_below(50);
  ASSERT_GT(walks.libgcc.size(), 55U);
  for (std::size_t i = 1; i <= 53; ++i) {
    ASSERT_LE(i, walks.own.size());
    EXPECT_EQ(walks.own[walks.own.size() - i], walks.libgcc[walks.libgcc.size() - i] - 1)
        << i << " from the outermost; an address inside the call, not behind it";
  }
}

// A walk that knows the last one of its thread must say what a walk from nothing says, whatever the
// thread did in between: other callers at the same depth, stack frames of other sizes with what
// earlier ones left in them, deeper, less deep.
class RandomCalls {
 public:
  explicit RandomCalls(std::uint64_t seed) : random_(seed) {}

  void run(int calls) {
    left_ = calls;
    while (left_ > 0) {
      call<0>(0);
      shift_a_frame();
    }
  }

  int walks = 0;
  int kept_frames = 0;
  int differences = 0;

 private:
  static inline RandomCalls* running;

  // Twice the same depth, of two frames that change by as much: where the first time a return
  // address was, it still is, in what the second time is somebody's unused room.
  [[gnu::noinline]] void shift_a_frame() {
    using Padded = void (RandomCalls::*)(std::size_t);
    static constexpr Padded kPadded[] = {&RandomCalls::padded<1>, &RandomCalls::padded<2>};
    for (int i = 0; i < 2; ++i) {
      const Padded chosen = kPadded[i];
      (this->*chosen)(i == 0 ? 128 : 64);
    }
    asm volatile("" ::: "memory");
  }

  template <int kSize>
  [[gnu::noinline]] void padded(std::size_t room) {
    char pad[64 * kSize];
    asm volatile("" ::"r"(pad) : "memory");
    with_room(room);
    asm volatile("" ::: "memory");
  }

  [[gnu::noinline]] void with_room(std::size_t bytes) {
    static_cast<volatile char*>(__builtin_alloca(bytes))[0] = 1;
    walk_twice_below_libc();
    asm volatile("" ::: "memory");
  }

  template <int kSite>
  [[gnu::noinline]] void call(int depth) {
    volatile char room[64 + 64 * (kSite / 2)];  // two of each size
    room[random_() % sizeof room] = 1;
    while (left_-- > 0 && random_() % 8 != 0) {
      if (depth > 30 || random_() % 3 == 0) {
        walk_twice_below_libc();
      } else {
        call_any(depth + 1);
      }
    }
    if (random_() % 4 == 0 && left_ > 0) call_with_any_room(depth);
    asm volatile("" ::: "memory");  // not a tail call
  }

  // One call for all, so that frames of other sizes have the same return address.
  void call_any(int depth) {
    using Call = void (RandomCalls::*)(int);
    static constexpr Call kCalls[] = {&RandomCalls::call<0>, &RandomCalls::call<1>,
                                      &RandomCalls::call<2>, &RandomCalls::call<3>};
    const Call chosen = kCalls[random_() % 4];
    (this->*chosen)(depth);
    asm volatile("" ::: "memory");  // not a tail call
  }

  [[gnu::noinline]] void call_with_any_room(int depth) {
    static_cast<volatile char*>(__builtin_alloca(64 + random_() % 4 * 64))[0] = 1;
    if (depth < 30) call_any(depth + 1);
    asm volatile("" ::: "memory");
  }

  // The walker leaves out its own code, which here is all of this program, up to libc's qsort.
  [[gnu::noinline]] void walk_twice_below_libc() {
    running = this;
    int two[] = {1, 2};
    qsort(two, 2, sizeof(int), [](const void*, const void*) {
      running->compare();
      return 0;
    });
    asm volatile("" ::: "memory");
  }

  void compare() {
    walk_stack(known_);
    anew_.count = 0;
    walk_stack(anew_);
    ++walks;
    kept_frames += known_.kept;
    bool same = known_.count == anew_.count;
    for (int i = 0; same && i < known_.count; ++i) {
      same =
          known_.frames[i].ip == anew_.frames[i].ip && known_.frames[i].cfa == anew_.frames[i].cfa;
    }
    differences += same ? 0 : 1;
  }

  std::mt19937_64 random_;
  int left_ = 0;
  NativeStack known_{};
  NativeStack anew_{};
};

TEST(Unwinding, FromTheLastStackFindsWhatUnwindingFromNothingFinds) {
  look_up_find_object();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto calls = std::make_unique<RandomCalls>(seed);
    std::thread([&] { calls->run(50000); }).join();
    EXPECT_EQ(calls->differences, 0) << seed;
    EXPECT_GT(calls->walks, 5000);
    EXPECT_GT(calls->kept_frames, 5 * calls->walks) << "most of a stack is usually as it was";
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
        if (tls.high >= tls.publish_at) publish();
        tls.free_left -= grows ? 0 : bytes;
        if (tls.free_left < 0) publish_loss();
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
