// The recorder's exact counters against bookkeeping inside the recorded programs.
#include <gmock/gmock.h>

#include "run_program.h"

namespace memduel {
namespace {

using testing::Each;
using testing::Field;
using testing::SizeIs;

struct Allocator {
  const char* name;
  const char* library;  ///< empty: glibc's
};

class EveryEntry : public testing::TestWithParam<Allocator> {};

TEST_P(EveryEntry, CountsOnceAndExactly) {
  const std::string library = GetParam().library;
  if (!library.empty() && !std::filesystem::exists(library)) {
    FAIL() << library << " is missing: install the packages that scripts/setup.sh lists";
  }
  const ProgramRun run =
      run_recorded(test_program("every_entry") + (library.empty() ? "" : " other"), "", library);
  ASSERT_EQ(run.status, 0);
  const std::vector<std::int64_t> expected = numbers_in(run.out);
  ASSERT_THAT(expected, SizeIs(4));
  const HeapCounters image = image_of(run, "every_entry");
  const HeapScope round = scope_of_round(image, 1);
  EXPECT_EQ(round.allocations, expected[0]);
  EXPECT_EQ(round.allocated_bytes, expected[1]);
  EXPECT_EQ(round.peak_bytes - round.live_begin_bytes, expected[2]);
  EXPECT_EQ(round.live_end_bytes - round.live_begin_bytes, expected[3]);
  EXPECT_EQ(image.threads, 1);
  EXPECT_EQ(image.lost, 0);
  if (!library.empty()) {
    EXPECT_EQ(std::filesystem::canonical(image.allocator), std::filesystem::canonical(library));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Allocators, EveryEntry,
    testing::Values(Allocator{"glibc", ""},
                    Allocator{"jemalloc", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"},
                    Allocator{"tcmalloc", "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"},
                    Allocator{"mimalloc", "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0"}),
    [](const auto& instance) { return instance.param.name; });

class WaysOut : public testing::TestWithParam<const char*> {};

TEST_P(WaysOut, KeepTheCountersOfTheImage) {
  const std::string way = GetParam();
  const ProgramRun run =
      run_recorded("sh -c 'exec " + test_program("hostile_exits") + " " + way + "'");
  const bool killed = way == "kill" || way == "failed_exec";
  EXPECT_EQ(run.status, killed ? 137 : way == "abort" ? 134 : 0);
  const HeapCounters image = image_of(run, "hostile_exits");
  EXPECT_EQ(image.finished, !killed);
  const HeapScope round = scope_of_round(image, 7);
  const std::int64_t blocks = way == "failed_exec" ? 2000 : 1000;
  if (killed) {  // the last 64 KiB requested are with the dead
    EXPECT_NEAR(static_cast<double>(round.allocated_bytes), static_cast<double>(blocks * 1000),
                65536);
    EXPECT_NEAR(static_cast<double>(round.live_end_bytes - round.live_begin_bytes),
                static_cast<double>(blocks * 1008), 65536);
  } else {
    EXPECT_EQ(round.allocated_bytes, blocks * 1000);
    EXPECT_EQ(round.allocations, blocks);
    EXPECT_EQ(round.live_end_bytes - round.live_begin_bytes, blocks * 1008);
  }
  if (way.starts_with("exec")) {
    EXPECT_TRUE(image_of(run, "true").finished);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorder, WaysOut,
                         testing::Values("return", "exit", "_exit", "_Exit", "quick_exit", "abort",
                                         "kill", "execl", "execlp", "execle", "execv", "execvp",
                                         "execve", "failed_exec"),
                         [](const auto& instance) { return std::string("by_") + instance.param; });

TEST(PlainC, IsCountedExactly) {
  for (const std::string mode : {"count", "sampled", "exact"}) {
    const ProgramRun run = run_recorded(test_program("plain_c"), "MEMDUEL_RECORDER_MODE=" + mode);
    EXPECT_EQ(run.status, 0) << mode;
    const HeapCounters image = image_of(run, "plain_c");
    EXPECT_EQ(image.allocations, 2000) << mode;
    EXPECT_EQ(image.allocated_bytes, 2'000'000) << mode;
    EXPECT_EQ(image.live_bytes, 1000 * 1008) << mode;
    EXPECT_EQ(image.peak_bytes, 1001 * 1008) << mode;
  }
}

TEST(HostilePrograms, ALimitOfFileSizesCostsRecordsAndNotTheProgram) {
  const auto limited = [](const std::string& blocks, const std::string& command) {
    return "sh -c 'ulimit -f " + blocks + "; exec " + test_program(command) + "'";
  };
  const ProgramRun none = run_recorded(limited("0", "plain_c"));
  EXPECT_EQ(none.status, 0);
  EXPECT_THAT(none.images, SizeIs(1)) << "the shell's, which has its page from before";
  const ProgramRun some =
      run_recorded(limited("64", "random_allocator 1"), "MEMDUEL_RECORDER_MODE=exact");
  EXPECT_EQ(some.status, 0);
  EXPECT_THAT(numbers_in(some.out), SizeIs(24));
  EXPECT_GT(image_of(some, "random_allocator").lost, 0) << "not even one block of the trace fits";
}

/// Of threads with stacks and live blocks each.
struct Load {
  int threads;
  std::string arguments;
};

TEST(RecordersMemory, IsAtMost8MiBAnd1MiBAThread) {
  constexpr std::int64_t kMiB = 1 << 20;
  const auto peak_of = [](const ProgramRun& run) {
    EXPECT_EQ(run.status, 0);
    const std::vector<std::int64_t> told = numbers_in(run.out);
    return told.empty() ? 0 : told.front();
  };
  for (const Load& load : {Load{1, "1 19 1000"}, Load{64, "64 6 1000"}, Load{1, "1 4 1000000"}}) {
    const std::string command = test_program("many_stacks") + " " + load.arguments;
    const std::int64_t bare = peak_of(run_recorded("env -u LD_PRELOAD " + command));
    for (const std::string mode : {"count", "sampled", "exact"}) {
      const std::int64_t recorded = peak_of(run_recorded(command, "MEMDUEL_RECORDER_MODE=" + mode));
      EXPECT_LE(recorded - bare, 8 * kMiB + load.threads * kMiB)
          << mode << ", threads, bits and blocks: " << load.arguments;
    }
  }
}

TEST(HostilePrograms, ForkingWhileThreadsAllocateGivesEachImageItsOwnCounters) {
  const ProgramRun run = run_recorded(test_program("hostile_fork"));
  EXPECT_EQ(run.status, 0);
  // the parent, 12 children, 4 grandchildren before exec, 4 + 1 times true
  EXPECT_THAT(run.images, SizeIs(1 + 12 + 4 + 4 + 1));
  EXPECT_THAT(run.images, Each(Field(&HeapCounters::finished, true)));
}

TEST(HostilePrograms, ForkingWhileThreadsHoldTheRecordersLocksLeavesWholeStateBehind) {
  const ProgramRun run = run_recorded(test_program("fork_in_locks"));
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.images, SizeIs(1 + 30));
  EXPECT_THAT(run.images, Each(Field(&HeapCounters::finished, true)));
  // Every image has given back all it had mapped or inherited.
  EXPECT_THAT(run.images, Each(Field(&HeapCounters::mapping_bytes, 0)));
  for (const HeapCounters& image : run.images) {
    constexpr std::int64_t kMapped = (1 << 30) + 32768 * 4096;
    EXPECT_LE(image.mapping_peak_bytes, kMapped);
    EXPECT_GE(image.mapping_peak_bytes, kMapped - 2 * 4096) << "each of two threads changes a page";
  }
}

TEST(HostilePrograms, AForkInASignalHandlerThatInterruptsTheRecorderHarmsNeitherSide) {
  for (const std::string mode : {"count", "exact"}) {
    const ProgramRun run =
        run_recorded(test_program("fork_in_handler"), "MEMDUEL_RECORDER_MODE=" + mode);
    EXPECT_EQ(run.status, 0) << mode;
    const std::vector<std::int64_t> expected = numbers_in(run.out);
    ASSERT_THAT(expected, SizeIs(2));
    const HeapCounters image = run.images.front();
    const HeapScope round = scope_of_round(image, 1);
    EXPECT_TRUE(image.finished);
    EXPECT_EQ(round.allocations, expected[0]) << mode;
    EXPECT_EQ(round.allocated_bytes, expected[1]) << mode;
    EXPECT_EQ(round.live_end_bytes - round.live_begin_bytes, 1000 * 1008) << mode;
    EXPECT_LE(run.images.size(), 1U + 40) << "a child of the recorder's own middle is not recorded";
  }
}

TEST(HostilePrograms, WithoutFollowingOnlyTheFirstImageIsRecorded) {
  const ProgramRun run = run_recorded(test_program("hostile_fork"), "MEMDUEL_RECORDER_FOLLOW=0");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.images, SizeIs(1));
}

TEST(HostilePrograms, AllocatingInConstructorsDestructorsAndHandlersIsCounted) {
  const ProgramRun run = run_recorded(test_program("hostile_lifetimes"));
  EXPECT_EQ(run.status, 0);
  ASSERT_THAT(run.images, SizeIs(1));
  EXPECT_EQ(run.images[0].threads, 202);
  EXPECT_GE(run.images[0].peak_bytes, 600'000);
  // Everything is freed but what the C and C++ libraries keep.
  EXPECT_LT(run.images[0].live_bytes, 200'000);
  EXPECT_GE(run.images[0].live_bytes, 0);
}

TEST(HostilePrograms, LeavingOperatorNewByJumpOrThrowKeepsTheCountersRight) {
  for (const std::string library : {"", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"}) {
    const ProgramRun run = run_recorded(test_program("hostile_new"), "", library);
    EXPECT_EQ(run.status, 0) << library;
    const HeapScope round = scope_of_round(image_of(run, "hostile_new"), 1);
    EXPECT_EQ(round.allocations, 100) << library;
    EXPECT_EQ(round.allocated_bytes, 100'000) << library;
  }
}

TEST(HostilePrograms, AProgramsOwnOperatorNewIsCountedOnce) {
  const ProgramRun run = run_recorded(test_program("overrides_new"));
  EXPECT_EQ(run.status, 0);
  const HeapScope round = scope_of_round(image_of(run, "overrides_new"), 1);
  EXPECT_EQ(round.allocations, 100);
  EXPECT_EQ(round.live_end_bytes - round.live_begin_bytes, 100 * 1008);
}

TEST(HostilePrograms, ACHostOpensAndClosesACppPlugin) {
  const ProgramRun run =
      run_recorded(test_program("opens_plugins") + " " + test_program("librecorder_plugin.so"));
  EXPECT_EQ(run.status, 0);
  EXPECT_GT(image_of(run, "opens_plugins").allocations, 50 * 100);
}

TEST(HostilePrograms, ForeignBlocksAndClosedDescriptorsAreHarmless) {
  const ProgramRun run = run_recorded(test_program("foreign_blocks"));
  EXPECT_EQ(run.status, 0);
  const HeapCounters image = image_of(run, "foreign_blocks");
  // 1,000 blocks of 512 came past the recorder and were freed through it.
  EXPECT_LT(image.live_bytes, 0);
  EXPECT_EQ(image.lost, 0);
  EXPECT_EQ(scope_of_round(image, 1).round, 1) << "its file is opened again";
}

TEST(HostilePrograms, CrossThreadFreesStayWithinTheStatedUncertainty) {
  const ProgramRun run = run_recorded(test_program("cross_thread"));
  EXPECT_EQ(run.status, 0);
  const HeapCounters image = image_of(run, "cross_thread");
  EXPECT_EQ(image.threads, 9);
  const HeapScope round = scope_of_round(image, 1);
  // All threads have ended and published: nothing is pending but what glibc keeps per thread.
  EXPECT_NEAR(static_cast<double>(round.live_end_bytes - round.live_begin_bytes),
              static_cast<double>(numbers_in(run.out).at(0)), 8 * 1024);
  EXPECT_GE(round.allocations, 8 * 200'000);
  // A closed form: 64 KiB (1 + 1/2 + ... + 1/8), and 8 KiB for the ninth.
  EXPECT_LE(image.uncertainty_bytes(), 186308);
}

TEST(MappingHeap, FollowsPartialUnmapsRemapsAndFixedMappings) {
  const ProgramRun run = run_recorded(test_program("maps"));
  EXPECT_EQ(run.status, 0);
  const HeapCounters image = image_of(run, "maps");
  EXPECT_EQ(image.mapping_bytes, 10 * 4096);
  EXPECT_EQ(image.mapping_peak_bytes, (10 + 200) * 4096);
  EXPECT_EQ(image.mappings, 4);
  EXPECT_EQ(image.lost, 0);
}

TEST(MappingHeap, CountsWhatIsOpenOfAReservationAndWhatIsTouchedOfLargeMappings) {
  constexpr std::int64_t kPage = 4096;
  const ProgramRun run = run_recorded(test_program("reserves"));
  EXPECT_EQ(run.status, 0);
  ASSERT_THAT(run.images, SizeIs(2));
  const HeapCounters& parent = run.images.front();
  const HeapCounters& child = run.images.back();
  EXPECT_EQ(parent.dense_bytes, 48 * kPage);
  EXPECT_EQ(parent.mapping_bytes, (48 + (1 << 13)) * kPage);
  EXPECT_EQ(parent.mapping_peak_bytes, (48 + (1 << 14)) * kPage);
  EXPECT_TRUE(parent.has_sparse);
  EXPECT_EQ(parent.live_bytes, parent.peak_bytes) << "it allocates nothing itself";
  EXPECT_EQ(parent.together_peak_bytes - parent.live_bytes, (48 + 1000) * kPage);
  EXPECT_TRUE(child.forked);
  EXPECT_EQ(child.inherited_mapping_bytes, parent.mapping_bytes);
  EXPECT_EQ(child.inherited_dense_bytes, 48 * kPage);
  EXPECT_EQ(child.dense_bytes - child.inherited_dense_bytes, 20 * kPage);
  EXPECT_EQ(child.together_peak_bytes - child.inherited_bytes, (48 + 20) * kPage);
}

TEST(MappingHeap, KnowsWhatWasTouchedBeforeAccessIsTaken) {
  const ProgramRun run = run_recorded(test_program("reserves") + " closed");
  EXPECT_EQ(run.status, 0);
  const HeapCounters image = image_of(run, "reserves");
  EXPECT_EQ(image.mapping_bytes, 0);
  EXPECT_EQ(image.together_peak_bytes - image.live_bytes, 1000 * 4096);
}

TEST(MappingHeap, ShowsNeighboursAsOneWhereLargeMappingsAreMany) {
  const HeapCounters image = image_of(run_recorded(test_program("reserves") + " many"), "reserves");
  EXPECT_EQ(image.mapping_bytes, 200 * (4 << 20));
  EXPECT_EQ(image.dense_bytes, 0);
  EXPECT_EQ(image.together_peak_bytes - image.live_bytes, 200 * 4096);
  EXPECT_EQ(image.lost, 0);
}

TEST(MappingHeap, AsksNothingOfTheKernelUnderAFilterOfSystemCalls) {
  const ProgramRun run = run_recorded(test_program("reserves") + " filtered");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(image_of(run, "reserves").mapping_bytes, 4 << 20);
}

TEST(MappingHeap, AllocatorsOwnMappingsAreNotTheProgramsMappings) {
  for (const std::string library : {"", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"}) {
    const ProgramRun run = run_recorded(test_program("every_entry") + " other", "", library);
    EXPECT_EQ(image_of(run, "every_entry").mappings, 0) << library;
  }
}

TEST(Recorder, WithoutADirectoryRecordsNothing) {
  const ProgramRun run = run_recorded("env -u MEMDUEL_RECORDER_DIR " + test_program("every_entry"));
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.images, SizeIs(1)) << "env itself";
}

}  // namespace
}  // namespace memduel
