// memduel record --snapshot-at on programs whose memory has a known layout, under four allocators.
// What is expected follows from each layout; the sum is held to what the program itself read from
// the kernel.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <sstream>
#include <thread>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr double kMiB = 1024 * 1024;
constexpr double kPage = 4096;
/// The block whose end is the end of the peak: live in every layout.
constexpr double kLast = 8 * kMiB;
const std::string kLayouts = std::string(MEMDUEL_RECORDER_PROGRAMS) + "/layouts";
const std::string kLibraries = "/usr/lib/x86_64-linux-gnu/";

struct Snapshot {
  nlohmann::json json;  ///< of profile_in
  double told = 0;      ///< resident bytes as the program read them

  [[nodiscard]] double bytes(const std::string& owner, const std::string& name = "",
                             const std::string& share = "") const {
    double sum = 0;
    for (const auto& part : json.at("resident").at("parts")) {
      const bool mine = part.at("owner") == owner && (name.empty() || part.at("name") == name) &&
                        (share.empty() || part.at("share") == share);
      if (mine) sum += part.at("bytes").get<double>();
    }
    return sum;
  }
  [[nodiscard]] double kernel() const { return json.at("resident").at("kernel_bytes"); }
};

double told_by(const std::string& out, const std::string& who) {
  std::istringstream words(out);
  std::string name;
  double bytes = 0;
  while (words >> name >> bytes)
    if (name == who) return bytes;
  ADD_FAILURE() << who << " told nothing: " << out;
  return 0;
}

std::vector<std::string> recording(const Workplace& place, const std::string& layout,
                                   const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"record", "-o", place.path("out.mdp").string(),
                                        "--snapshot-at", "rss=99%"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"--", kLayouts, layout, place.path("file.bin").string()});
  return arguments;
}

Snapshot snapshot_of(const Workplace& place, const std::string& layout,
                     const std::vector<std::string>& options = {}) {
  const Finished run = memduel(place, recording(place, layout, options));
  EXPECT_EQ(run.status, 0) << run.err;
  return {profile_in(place, place.path("out.mdp")), told_by(run.out, "resident")};
}

/// Every page has an owner, and they are as many as the kernel counts.
void expect_whole(const Snapshot& snapshot) {
  double sum = 0;
  for (const auto& part : snapshot.json.at("resident").at("parts"))
    sum += part.at("bytes").get<double>();
  EXPECT_NEAR(sum, snapshot.kernel(), 0.01 * snapshot.kernel());
  EXPECT_NEAR(snapshot.kernel(), snapshot.told, 0.01 * snapshot.told + 0.5 * kMiB)
      << "the program read the same just before, and the recorder's buffers came in between";
  EXPECT_LE(std::abs(snapshot.json.at("resident").at("unexplained_bytes").get<double>()),
            64 * kPage)
      << "the dynamic linker's own pages";
}

/// What a layout has beyond the same program without one.
struct Gain {
  Snapshot with;
  Snapshot without;

  [[nodiscard]] double bytes(const std::string& owner, const std::string& name = "",
                             const std::string& share = "") const {
    return with.bytes(owner, name, share) - without.bytes(owner, name, share);
  }
};

/// A layout whose peak ends in munmap is held to a program whose peak ends so.
std::string without_layout(const std::string& layout) {
  return layout.starts_with("freed") ? "nothing_unmapped" : "nothing";
}

class Layouts : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Gain of(const std::string& layout) const {
    static std::map<std::string, Snapshot> known;
    const std::string base = without_layout(layout);
    const auto [without, first] = known.try_emplace(base + GetParam());
    if (first) without->second = taken(base);
    return {taken(layout), without->second};
  }

  Workplace place_;

 private:
  [[nodiscard]] Snapshot taken(const std::string& layout) const {
    const std::vector<std::string> options =
        GetParam() == "exact" ? std::vector<std::string>{"--exact"} : std::vector<std::string>{};
    const Snapshot snapshot = snapshot_of(place_, layout, options);
    expect_whole(snapshot);
    return snapshot;
  }
};

/// Whether anonymous pages that were only read are all one, that of zeros. Some kernels give each a
/// page of its own, which is resident; who may not see page numbers is told that they are one.
bool reads_share_a_page() {
  constexpr std::size_t kTwo = 2 * 4096;
  auto* memory = static_cast<volatile char*>(
      mmap(nullptr, kTwo, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const int sum = memory[0] + memory[kTwo / 2];
  std::array<std::uint64_t, 2> entries{};
  const int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(memory) / 4096 * 8);
  EXPECT_EQ(pread(pages, entries.data(), sizeof entries, at), ssize_t{sizeof entries}) << sum;
  close(pages);
  munmap(const_cast<char*>(memory), kTwo);
  return entries[0] == entries[1];
}

TEST_P(Layouts, WhatIsReservedAndNeverTouchedCostsNothing) {
  const Gain gain = of("untouched");
  EXPECT_NEAR(gain.bytes("live"), 0, kPage) << "the block's header";
  double untouched = 0;
  for (const auto& site : gain.with.json.at("resident").at("untouched"))
    untouched += site.at("bytes").get<double>();
  EXPECT_NEAR(untouched, 5120 * kMiB, 32 * kPage)
      << "200 GiB without access are no memory asked for; the C++ library has 72 KiB";
  EXPECT_LT(gain.with.json.at("resident").at("seconds").get<double>(), 0.5);
}

TEST_P(Layouts, OfEverySecondPageHalfIsResident) {
  EXPECT_NEAR(of("second_page").bytes("live"), 64 * kMiB, kPage);
}

TEST_P(Layouts, PagesThatWereOnlyReadAreResidentWhereTheKernelSaysSo) {
  const double resident = reads_share_a_page() ? 0 : 64 * kMiB;
  EXPECT_NEAR(of("only_read").bytes("mapped"), resident, kPage);
}

// Of 64 MiB of blocks of 1,008 bytes, each in a chunk of 1,024, one of four is left on each page.
TEST_P(Layouts, FreeSpaceIsPinnedByTheBlockThatIsLeft) {
  const Gain gain = of("one_of_four");
  const double table = 65536 * sizeof(void*);  // its vector, before it last grew
  EXPECT_NEAR(gain.bytes("live"), 16 * kMiB + table, 2 * kPage) << "two mappings";
  EXPECT_NEAR(gain.bytes("fragmentation"), 48 * kMiB, 2 * kPage);
  EXPECT_NEAR(gain.bytes("free"), 0, kPage);
}

// The first page and the last have live blocks, too.
TEST_P(Layouts, PagesWithNothingLiveAreTheAllocators) {
  EXPECT_NEAR(of("freed").bytes("free", "program-break"), 64 * kMiB - kPage, kPage);
}

TEST_P(Layouts, AndSoAreThoseOfAnArenaOfAThread) {
  EXPECT_NEAR(of("freed_in_thread").bytes("free", "further-arenas"), 32 * kMiB, kPage);
}

// Beside its 512 KiB a thread has its descriptor, and the frames around them.
TEST_P(Layouts, StacksAreKnownByTheirThreads) {
  EXPECT_NEAR(of("stacks").bytes("stack", "other-threads"), 64 * (512 * 1024 + 1.5 * kPage),
              64 * kPage);
}

TEST_P(Layouts, AFileIsKnownByItsName) {
  EXPECT_NEAR(of("half_file").bytes("file", "file.bin", "shared"), 150 * kMiB, kPage);
}

TEST_P(Layouts, CopiedPagesOfAFileAreToldApart) {
  EXPECT_NEAR(of("copied_file").bytes("file", "file.bin", "private-copy"), 16 * kMiB, kPage);
}

TEST_P(Layouts, SharedMemoryIsKnownByItsName) {
  EXPECT_NEAR(of("shared").bytes("file", "memfd:layouts-shared"), 48 * kMiB, kPage);
}

TEST_P(Layouts, HugePagesAreResidentAsAWhole) {
  EXPECT_NEAR(of("huge").bytes("mapped"), 128 * kMiB, 2 * kMiB) << "one huge page";
}

TEST_P(Layouts, LockedMemoryIsResidentWithoutBeingTouched) {
  EXPECT_NEAR(of("locked").bytes("mapped"), 16 * kMiB, kPage);
}

TEST_P(Layouts, OnlyTouchedPagesOfAMappingCount) {
  EXPECT_NEAR(of("mapping").bytes("mapped"), 30 * kMiB, kPage);
}

TEST_P(Layouts, AForkedProcessKnowsWhatItInheritedAndWhatItCopied) {
  EXPECT_NEAR(of("fork").bytes("live"), 128 * kMiB, kPage);
  const Snapshot child{profile_in(place_, place_.path("out.2.mdp")), 0};
  // Beside the block it has what the program and its libraries had, which it copies in parts.
  EXPECT_NEAR(child.bytes("inherited", "own-copy"), 32 * kMiB, 16 * kPage);
  EXPECT_NEAR(child.bytes("inherited", "shared-with-others"), 96 * kMiB, 256 * kPage)
      << "the variables of its libraries, too";
  EXPECT_NEAR(child.bytes("live"), kLast, 2 * kPage);
}

TEST_P(Layouts, WhatAForkedProcessFreesIsItsOwnAllocators) {
  std::vector<std::string> options;
  if (GetParam() == "exact") options.emplace_back("--exact");
  const Finished run = memduel(place_, recording(place_, "freed_after_fork", options));
  ASSERT_EQ(run.status, 0) << run.err;
  const Snapshot child{profile_in(place_, place_.path("out.2.mdp")), told_by(run.out, "child")};
  expect_whole(child);
  EXPECT_NEAR(child.bytes("free", "program-break"), 48 * kMiB, 40 * kPage)
      << "the vector of blocks grows and is freed as well";
  EXPECT_NEAR(child.bytes("free", "further-arenas"), (32 - 4) * kMiB, 40 * kPage);
  EXPECT_NEAR(child.bytes("mapped", "mapped-before-fork"), 8 * kMiB, kPage);
  EXPECT_GE(child.bytes("inherited"), (16 + 4) * kMiB);
  EXPECT_LE(child.bytes("inherited"), told_by(run.out, "parent"));
  const Snapshot grandchild{profile_in(place_, place_.path("out.3.mdp")),
                            told_by(run.out, "grandchild")};
  expect_whole(grandchild);
  EXPECT_NEAR(grandchild.bytes("inherited"), (24 + 48 + 32) * kMiB, 2 * kMiB);
  EXPECT_NEAR(grandchild.bytes("mapped"), (20 + 8) * kMiB, 4 * kPage);
  EXPECT_LE(grandchild.bytes("free"), 64 * kPage);
}

TEST_P(Layouts, AChildThatAThreadForkedRunsOnThatThreadsStack) {
  std::vector<std::string> options;
  if (GetParam() == "exact") options.emplace_back("--exact");
  const Finished run = memduel(place_, recording(place_, "fork_in_thread", options));
  ASSERT_EQ(run.status, 0) << run.err;
  const Snapshot child{profile_in(place_, place_.path("out.2.mdp")), told_by(run.out, "child")};
  EXPECT_NEAR(child.bytes("stack", "other-threads"), 512 * 1024, 8 * kPage);
}

INSTANTIATE_TEST_SUITE_P(OfBothModes, Layouts, testing::Values("sampled", "exact"),
                         [](const auto& mode) { return mode.param; });

class LayoutsUnder : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Gain of(const std::string& layout) const {
    static std::map<std::string, Snapshot> known;
    const std::string base = without_layout(layout);
    const auto [without, first] = known.try_emplace(base + GetParam());
    if (first) without->second = taken(base);
    return {taken(layout), without->second};
  }
  /// jemalloc begins a large block at any cache line of its first page: up to a page for each of
  /// the layout's block, the last one and the C++ library's.
  [[nodiscard]] double ends() const { return GetParam() == "libjemalloc.so.2" ? 3 * kPage : kPage; }
  Workplace place_;

 private:
  // Without address randomization: where tcmalloc's heap begins decides whether it maps 2 MiB more.
  [[nodiscard]] Snapshot taken(const std::string& layout) const {
    std::vector<std::string> arguments = {"--addr-no-randomize", "/usr/bin/env",
                                          "LD_PRELOAD=" + kLibraries + GetParam(), MEMDUEL_PROGRAM};
    for (const std::string& argument : recording(place_, layout)) arguments.push_back(argument);
    const Finished run = Running(place_, "/usr/bin/setarch", arguments).wait();
    EXPECT_EQ(run.status, 0) << run.err;
    Snapshot snapshot{profile_in(place_, place_.path("out.mdp")), told_by(run.out, "resident")};
    expect_whole(snapshot);
    return snapshot;
  }
};

TEST_P(LayoutsUnder, TouchedPagesOfLargeBlocksAreTheirs) {
  EXPECT_NEAR(of("second_page").bytes("live"), 64 * kMiB, ends());
}

TEST_P(LayoutsUnder, UntouchedBlocksAreNot) {
  EXPECT_NEAR(of("untouched").bytes("live"), 0, ends());
}

// Four chunks of 1,024 bytes on a page; mimalloc's pages have their heads beside them.
TEST_P(LayoutsUnder, FreeSpaceIsPinnedByTheBlockThatIsLeft) {
  const Gain gain = of("one_of_four");
  const double table = 65536 * sizeof(void*);
  EXPECT_NEAR(gain.bytes("live"), 16 * kMiB + table, kPage + ends());
  const double heads = GetParam() == "libmimalloc.so.2" ? 512 * kPage : 0;
  EXPECT_GE(gain.bytes("fragmentation"), 48 * kMiB - kPage - ends());
  EXPECT_LE(gain.bytes("fragmentation"), 48 * kMiB + kPage + ends() + heads);
}

// What it held before is in use again meanwhile, its tables and what it keeps for threads beside.
TEST_P(LayoutsUnder, WhatWasFreedIsHeldOrGivenBack) {
  const Gain gain = of("freed");
  EXPECT_LE(gain.bytes("free"), 67 * kMiB);
  EXPECT_NEAR(gain.bytes("fragmentation"), 0, 16 * kPage)
      << "a slab for each size that it begins to use";
}

TEST_P(LayoutsUnder, StacksAreKnownByTheirThreads) {
  EXPECT_NEAR(of("stacks").bytes("stack", "other-threads"), 64 * (512 * 1024 + 1.5 * kPage),
              64 * kPage);
}

TEST_P(LayoutsUnder, FilesAreKnownByTheirNames) {
  EXPECT_NEAR(of("half_file").bytes("file", "file.bin", "shared"), 150 * kMiB, kPage);
  EXPECT_NEAR(of("copied_file").bytes("file", "file.bin", "private-copy"), 16 * kMiB, kPage)
      << "whatever the allocator maps behind it";
}

TEST_P(LayoutsUnder, MappingsOfTheProgramAreNotTheAllocators) {
  EXPECT_NEAR(of("mapping").bytes("mapped"), 30 * kMiB, kPage);
  const double only_read = reads_share_a_page() ? 0 : 64 * kMiB;
  EXPECT_NEAR(of("only_read").bytes("mapped"), only_read, kPage);
}

INSTANTIATE_TEST_SUITE_P(OfThreeAllocators, LayoutsUnder,
                         testing::Values("libjemalloc.so.2", "libtcmalloc.so.4",
                                         "libmimalloc.so.2"),
                         [](const auto& library) {
                           const std::string& name = library.param;
                           return name.substr(3, name.find(".so") - 3);
                         });

// ---- when --------------------------------------------------------------------------------------

const std::string kAsksForOne = R"(
import os, signal
kept = bytearray(50 << 20)
os.kill(os.getpid(), signal.SIGUSR2)
del kept
more = bytearray(90 << 20)
)";

/// The kernel joins CPython's arenas to the data of the library that was mapped last.
const std::string kForksWithArenas = R"(
import bz2, os
numbers = list(range(1000000, 3000000))
if os.fork() == 0:
    last = bytearray(4 << 20)
    del last
    os._exit(0)
os.wait()
)";

const std::string kHidesItself = R"(
import ctypes, os
libc = ctypes.CDLL(None)
os.setuid(65534)
libc.prctl(4, 0, 0, 0, 0)
kept = bytearray(64 << 20)
first = bytearray(1 << 20)
del kept
)";

const std::string kGrowsSlowly = R"(
import sys, time
open(sys.argv[1], 'w')
kept = []
for i in range(100):
  kept.append(bytearray(1 << 20))
  last = bytearray(1 << 20)
  del last
  time.sleep(0.01)
open(sys.argv[2], 'w')
)";

std::string summary_of(const Workplace& place) {
  const Finished run = memduel(place, {"summary", place.path("out.mdp").string()});
  EXPECT_EQ(run.status, 0) << run.err;
  return run.out;
}

TEST(SnapshotTime, NoneIsTakenBelowTheAskedBytes) {
  const Workplace place;
  const Finished run = memduel(place, {"record", "-o", place.path("out.mdp").string(),
                                       "--snapshot-at", "rss=900MiB", "--", kLayouts, "mapping"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_FALSE(profile_in(place, place.path("out.mdp")).contains("resident"));
  EXPECT_THAT(summary_of(place), HasSubstr("No snapshot of resident memory"))
      << "with the most that was seen";
}

TEST(SnapshotOfAnInterpreter, AForkedOnesArenasAreNoLibrarysVariables) {
  const Workplace place;
  const Finished run =
      memduel(place, {"record", "-o", place.path("out.mdp").string(), "--snapshot-at", "rss=97%",
                      "--", "/usr/bin/python3", place.file("forks.py", kForksWithArenas)});
  ASSERT_EQ(run.status, 0) << run.err;
  const Snapshot child{profile_in(place, place.path("out.2.mdp")), 0};
  EXPECT_GT(child.bytes("inherited"), 2e6 * (32 + 8)) << "each number has 32 bytes and a place";
  EXPECT_LT(child.bytes("file", "", "private-copy"), 4 * kMiB);
}

TEST(SnapshotTime, TheFirstLineSaysHowNearThePeakItCame) {
  const Workplace place;
  snapshot_of(place, "mapping");
  EXPECT_THAT(summary_of(place),
              testing::ContainsRegex("(9[7-9]|100)\\.[0-9]% of the peak RSS of"));
}

TEST(SnapshotTime, IsTheExitOfAProgramThatTouchedMoreSinceItLastFreed) {
  const Workplace place;
  const Finished run = memduel(place, recording(place, "touched_before_exit"));
  const Snapshot snapshot{profile_in(place, place.path("out.mdp")), told_by(run.out, "later")};
  EXPECT_NEAR(snapshot.kernel(), snapshot.told, 0.01 * snapshot.told + 0.5 * kMiB);
  EXPECT_THAT(run.err, Not(HasSubstr("the snapshot shows")));
}

TEST(SnapshotTime, StatesTheShareOfAPeakThatNoAllocationSaw) {
  const Workplace place;
  const Finished run = memduel(place, recording(place, "touched_and_given_back"));
  const double later = told_by(run.out, "later");
  const Snapshot snapshot{profile_in(place, place.path("out.mdp")), told_by(run.out, "resident")};
  EXPECT_NEAR(snapshot.kernel(), snapshot.told, 0.01 * snapshot.told + 0.5 * kMiB);
  const std::string summary = memduel(place, {"summary", place.path("out.mdp")}).out;
  double share = 0;
  ASSERT_EQ(std::sscanf(summary.c_str() + summary.find("MiB, ") + 5, "%lf%% of the peak", &share),
            1)
      << summary;
  EXPECT_NEAR(share, 100 * snapshot.told / later, 1);
  EXPECT_THAT(run.err, HasSubstr(fmt::format("{:.1f}% of the peak RSS", share)));
}

TEST(SnapshotTime, APeakThatIsKnownSparesTheSnapshotsBelow) {
  const Workplace place;
  const Snapshot first = snapshot_of(place, "one_of_four");
  fs::rename(place.path("out.mdp"), place.path("first.mdp"));
  const Snapshot second =
      snapshot_of(place, "one_of_four", {"--peak-from", place.path("first.mdp").string()});
  EXPECT_NEAR(second.kernel(), first.kernel(), 0.02 * first.kernel());
}

TEST(SnapshotTime, AMarkIsWhereItIsTold) {
  const Workplace place;
  const std::string program = std::string(MEMDUEL_RECORDER_PROGRAMS) + "/leaks_in_upload";
  const Finished run = memduel(place, {"record", "-o", place.path("out.mdp").string(),
                                       "--snapshot-at", "mark=2/upload", "--", program, "4"});
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json resident = profile_in(place, place.path("out.mdp")).at("resident");
  EXPECT_EQ(resident.at("round"), 2);
  EXPECT_EQ(resident.at("phase"), "upload");
}

TEST(SnapshotTime, ASignalAsksForOne) {
  const Workplace place;
  const Finished run =
      memduel(place, {"record", "-o", place.path("out.mdp").string(), "--snapshot-at", "signal",
                      "--", "/usr/bin/python3", "-c", kAsksForOne});
  ASSERT_EQ(run.status, 0) << run.err;
  const Snapshot snapshot{profile_in(place, place.path("out.mdp")), 0};
  EXPECT_GE(snapshot.bytes("live"), 50 * kMiB);
  EXPECT_LE(snapshot.bytes("live"), 80 * kMiB) << "not of what came later";
}

/// Keeps blocks until its destructor runs: of a program that is below exit(), of a library below
/// code of the compiler's that has no unwind tables.
const std::string kKeeper = R"(
#include <cstdlib>
#include <vector>
struct Keeper {
  std::vector<char*> blocks;
  ~Keeper() { for (char* block : blocks) std::free(block); }
};
)";

const std::string kOfLibrary = kKeeper + R"(
static Keeper keeper;
void keep_in_library(char* block) { keeper.blocks.push_back(block); }
)";

// The last fifth is kept after the last free, so that the peak is at the end of main.
const std::string kOfProgram = kKeeper + R"(
#include <cstring>
void keep_in_library(char* block);
static Keeper keeper;
char* block_of(std::size_t bytes) {
  return static_cast<char*>(std::memset(std::malloc(bytes), 1, bytes));
}
void keep(int blocks) {
  for (int i = 0; i < blocks; ++i) {
    keeper.blocks.push_back(block_of(100000));
    keep_in_library(block_of(100000));
  }
}
int main() {
  keep(500);
  std::free(block_of(8 << 20));
  keep(100);
}
)";

TEST(SnapshotTime, IsOfThePeakBeforeDestructorsOfLibrariesFree) {
  const Workplace place;
  const std::string library = place.file("keeper.cpp", kOfLibrary);
  const std::string source = place.file("main.cpp", kOfProgram);
  const std::string program = place.path("keeps").string();
  const std::string shared = place.path("libkeeper.so").string();
  ASSERT_EQ(std::system(("g++ -shared -fPIC -o " + shared + " " + library).c_str()), 0);
  ASSERT_EQ(std::system(("g++ -o " + program + " " + source + " " + shared).c_str()), 0);
  const Finished run = memduel(place, {"record", "-o", place.path("out.mdp").string(),
                                       "--snapshot-at", "rss=97%", "--", program});
  ASSERT_EQ(run.status, 0) << run.err;
  const Snapshot snapshot{profile_in(place, place.path("out.mdp")), 0};
  EXPECT_GE(snapshot.bytes("live"), 1000 * 100000.0) << "neither of the two has freed a block";
}

TEST(SnapshotTime, WrongWordsAreRefusedWithThoseThatAreRight) {
  const Workplace place;
  for (const std::string word : {"rss", "rss=0", "rss=101%", "rss=-5MiB", "mark=", "mark=x/upload",
                                 "mark=2/", "peak", "rss=9XB"}) {
    const Finished run = memduel(place, {"record", "--snapshot-at", word, "--", "true"});
    EXPECT_EQ(run.status, 125) << word;
    EXPECT_THAT(run.err, AllOf(HasSubstr('"' + word + '"'), HasSubstr("mark=ROUND/PHASE")));
  }
}

TEST(SnapshotTime, AProcessThatCannotReadItselfSaysSo) {
  if (geteuid() != 0) GTEST_SKIP() << "becomes another user";
  const Workplace place;
  // Another user without dump: its /proc files are root's.
  const Finished run =
      memduel(place, {"record", "-o", place.path("out.mdp").string(), "--snapshot-at", "rss=97%",
                      "--", "/usr/bin/python3", "-c", kHidesItself});
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string text = summary_of(place);
  EXPECT_THAT(text, AnyOf(HasSubstr("cannot read its own /proc"), HasSubstr("Resident memory")));
}

// Nothing outside the process stops it for a snapshot, so that nothing has to let it go.
TEST(SnapshotTime, AProcessGoesOnWhenMemduelIsKilled) {
  const Workplace place;
  const fs::path begun = place.path("begun");
  const fs::path done = place.path("done");
  const Running recording(
      place, {"record", "-o", place.path("out.mdp").string(), "--snapshot-at", "rss=99%", "--",
              "/usr/bin/python3", "-c", kGrowsSlowly, begun.string(), done.string()});
  const auto appears = [](const fs::path& file) {
    for (int i = 0; i < 1000 && !fs::exists(file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return fs::exists(file);
  };
  ASSERT_TRUE(appears(begun));
  recording.signal(SIGKILL);
  EXPECT_TRUE(appears(done));
}

// ---- Python ------------------------------------------------------------------------------------

Snapshot python_snapshot(const Workplace& place, const std::string& program) {
  const Finished run =
      memduel(place, {"record", "-o", place.path("out.mdp").string(), "--snapshot-at", "rss=99%",
                      "--", "/usr/bin/python3", "-c", program});
  EXPECT_EQ(run.status, 0) << run.err;
  return {profile_in(place, place.path("out.mdp")), 0};
}

// A bytes object of 40 has a header of 33: 73 bytes, in pools of 80. The list has 8 for each.
TEST(SnapshotOfPython, SmallObjectsAreMappingsAndLargeOnesLive) {
  const Workplace place;
  const std::string end = "; last = bytearray(8 << 20); del last";
  const Snapshot none = python_snapshot(place, "kept = []" + end);
  const Snapshot some =
      python_snapshot(place, "kept = [bytes([i % 256]) * 40 for i in range(200000)]" + end);
  EXPECT_NEAR(some.bytes("mapped") - none.bytes("mapped"), 200000 * 80, kMiB)
      << "an arena has one MiB";
  EXPECT_NEAR(some.bytes("live") - none.bytes("live"), 200000 * 8, 0.2 * 200000 * 8)
      << "a list that grew has up to an eighth to spare";
}

TEST(SnapshotOfPython, AnArrayOfNumpyIsLive) {
  const Workplace place;
  if (Running(place, "/usr/bin/python3", {"-c", "import numpy"}).wait().status != 0)
    GTEST_SKIP() << "no numpy";
  const Snapshot snapshot = python_snapshot(
      place, "import numpy; kept = numpy.ones(8 << 20); last = bytearray(8 << 20); del last");
  EXPECT_NEAR(snapshot.bytes("live"), 64 * kMiB + kLast, 8 * kMiB) << "and what numpy itself needs";
  EXPECT_LE(snapshot.json.at("resident").at("unexplained_bytes").get<double>(), 64 * kPage);
}

// ---- where people see it -----------------------------------------------------------------------

TEST(SnapshotViews, FoldedStacksBeginWithTheirOwner) {
  const Workplace place;
  const Snapshot snapshot = snapshot_of(place, "one_of_four");
  const Finished run = memduel(place, {"export", place.path("out.mdp").string(), "--format",
                                       "folded", "--kind", "resident"});
  ASSERT_EQ(run.status, 0) << run.err;
  std::map<std::string, double> owners;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t amount = line.rfind(' ');
    owners[line.substr(0, std::min(line.find(';'), amount))] += std::stod(line.substr(amount));
  }
  EXPECT_NEAR(owners["live"], snapshot.bytes("live"), 2);
  EXPECT_NEAR(owners["fragmentation"], snapshot.bytes("fragmentation"), 2);
  EXPECT_NEAR(owners["free"], snapshot.bytes("free"), 2);
  EXPECT_GT(owners["file:libc.so.6"], 100 * 1024);
  EXPECT_EQ(owners.count("recorder"), 0U) << "its own pages are no part of the program's";
  EXPECT_THAT(run.out, HasSubstr("fragmentation;"));
  EXPECT_THAT(run.out, HasSubstr("leaves_one_of_four"));
}

TEST(SnapshotViews, AProfileWithoutASnapshotHasNoSuchKind) {
  const Workplace place;
  ASSERT_EQ(memduel(place, {"record", "-o", place.path("out.mdp").string(), "--exact", "--",
                            kLayouts, "mapping"})
                .status,
            0);
  const Finished run = memduel(place, {"export", place.path("out.mdp").string(), "--format",
                                       "folded", "--kind", "resident"});
  EXPECT_EQ(run.status, 4);
  EXPECT_THAT(run.err, HasSubstr("--snapshot-at"));
}

TEST(SnapshotViews, AFlameGraphAndADifferenceAreDrawn) {
  const Workplace place;
  snapshot_of(place, "one_of_four");
  fs::rename(place.path("out.mdp"), place.path("before.mdp"));
  snapshot_of(place, "freed");
  const Finished run = memduel(place, {"flamegraph", place.path("before.mdp").string(), "--diff",
                                       place.path("out.mdp").string(), "--kind", "resident", "-o",
                                       place.path("flame.html").string()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_GT(fs::file_size(place.path("flame.html")), 10'000U);
}

TEST(Snapshot, ThatIsNeverDueIsReportedWhenTheCommandHasEnded) {
  const Workplace place;
  for (const char* when : {"rss=900MiB", "mark=77", "signal"}) {
    const Finished run = memduel(place, {"record", "-o", place.path("out.mdp").string(),
                                         "--snapshot-at", when, "--", "/bin/true"});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.err, HasSubstr("no snapshot of resident memory: " + std::string(when) +
                                   " was never due; peak RSS was "));
  }
  const Finished taken = memduel(place, recording(place, "nothing"));
  EXPECT_THAT(taken.err, testing::Not(HasSubstr("never due")));
}

}  // namespace
}  // namespace memduel
