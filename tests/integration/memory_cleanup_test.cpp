// What a cleanup does under each allocator, against what the kernel still has of the freed pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "allocator_arm.h"
#include "util/process.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

struct CleanupFact {
  std::string action;
  std::string trim_result;
  double before = 0;  ///< bytes
  double after = 0;
  std::string notes;
};

/// A line "a|b|c" as its words.
std::vector<std::string> split_at_bars(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '|');) words.push_back(word);
  return words;
}

struct ArenaFact {
  std::string limit;
  std::string note;
};

struct CleanupFacts {
  std::string allocator;
  ArenaFact arenas_at_start;
  ArenaFact arenas_limited;
  std::map<std::string, CleanupFact> cleanups;
};

CleanupFacts facts_under(const std::vector<std::string>& environment) {
  std::vector<std::string> argv = {"env"};
  argv.insert(argv.end(), environment.begin(), environment.end());
  argv.emplace_back(MEMDUEL_CLEANUP_FACTS);
  const HelperResult ran = capture(argv);
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  CleanupFacts facts;
  std::istringstream lines(ran.out);
  std::getline(lines, facts.allocator);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = split_at_bars(line);
    if (words.at(0).starts_with("arenas_")) {
      words.resize(3);
      ArenaFact& arenas =
          words[0] == "arenas_at_start" ? facts.arenas_at_start : facts.arenas_limited;
      arenas.limit = words[1];
      arenas.note = words[2];
      continue;
    }
    words.resize(6);
    facts.cleanups[words[0]] = {words[1], words[2], std::stod(words[3]), std::stod(words[4]),
                                words[5]};
  }
  EXPECT_EQ(facts.cleanups.size(), 5U) << ran.out;
  return facts;
}

CleanupFacts facts_under(Allocator allocator) {
  const auto library = allocator_library(allocator);
  if (library.empty()) return facts_under({"-u", "MALLOC_ARENA_MAX"});
  return facts_under({"LD_PRELOAD=" + library.string()});
}

/// Of 64 MiB all but one block in 64 is freed, and of each block of 16 KiB at least 3 pages lie in
/// it whole.
constexpr double kFreed = 63 * 64 * 3 * 4096.0;

class MemoryCleanup : public testing::TestWithParam<Allocator> {
 protected:
  const CleanupFacts facts_ = facts_under(GetParam());
};

TEST_P(MemoryCleanup, FindsTheAllocator) {
  EXPECT_EQ(facts_.allocator, name_of(GetParam()));
}

// jemalloc and mimalloc may give back by themselves meanwhile.
TEST_P(MemoryCleanup, NoneLeavesTheHeapAlone) {
  const CleanupFact& none = facts_.cleanups.at("none");
  EXPECT_EQ(none.action, "left alone");
  EXPECT_GE(none.before, kFreed);
  EXPECT_LE(none.after, none.before);
  if (GetParam() == Allocator::glibc || GetParam() == Allocator::tcmalloc) {
    EXPECT_EQ(none.after, none.before);
  }
  EXPECT_EQ(none.notes, "");
}

TEST_P(MemoryCleanup, DoesWhatTheAllocatorCan) {
  const std::map<Allocator, std::pair<std::string, std::string>> expected = {
      {Allocator::glibc, {"trimmed", "trimmed"}},
      {Allocator::jemalloc, {"left to decay", "purged"}},
      {Allocator::tcmalloc, {"released", "released"}},
      {Allocator::mimalloc, {"collected", "collected"}}};
  EXPECT_EQ(facts_.cleanups.at("give_back").action, expected.at(GetParam()).first);
  EXPECT_EQ(facts_.cleanups.at("purge").action, expected.at(GetParam()).second);
  for (const char* cleanup : {"give_back", "purge"}) {
    EXPECT_EQ(facts_.cleanups.at(cleanup).trim_result, GetParam() == Allocator::glibc ? "1" : "-");
    EXPECT_EQ(facts_.cleanups.at(cleanup).notes, "");
  }
}

TEST_P(MemoryCleanup, ArenasAreLimitedWhereTheAllocatorHearsIt) {
  EXPECT_EQ(facts_.arenas_at_start.limit, "-1");
  EXPECT_EQ(facts_.arenas_limited.limit, GetParam() == Allocator::glibc ? "2" : "-1");
  const std::map<Allocator, std::string> expected = {
      {Allocator::glibc, ""},
      {Allocator::jemalloc, "narenas in MALLOC_CONF"},
      {Allocator::tcmalloc, "has no arenas to limit"},
      {Allocator::mimalloc, "has no arenas to limit"}};
  EXPECT_THAT(facts_.arenas_limited.note, HasSubstr(expected.at(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, MemoryCleanup,
                         testing::Values(Allocator::glibc, Allocator::jemalloc, Allocator::tcmalloc,
                                         Allocator::mimalloc),
                         [](const auto& each) { return std::string(name_of(each.param)); });

// Of each run between two blocks that stay malloc keeps two pages at most.
TEST(MemoryCleanupPages, GlibcGivesBackAllBetweenTheBlocksThatStay) {
  const CleanupFacts facts = facts_under(Allocator::glibc);
  for (const char* cleanup : {"give_back", "purge"}) {
    EXPECT_GE(facts.cleanups.at(cleanup).before, kFreed) << cleanup;
    EXPECT_LE(facts.cleanups.at(cleanup).after, 65 * 2 * 4096) << cleanup;
  }
}

TEST(MemoryCleanupPages, JemallocGivesBackWhenItIsToldTo) {
  const CleanupFacts facts = facts_under(Allocator::jemalloc);
  const CleanupFact& left = facts.cleanups.at("give_back");
  EXPECT_GE(left.after, left.before / 2) << "its decay takes ten seconds";
  EXPECT_EQ(facts.cleanups.at("purge").after, 0);
}

// What other caches than the calling thread's hold stays.
TEST(MemoryCleanupPages, TcmallocReleasesWhatItsThreadCacheHasNotAndThatOnAPurge) {
  const CleanupFacts facts = facts_under(Allocator::tcmalloc);
  const CleanupFact& released = facts.cleanups.at("give_back");
  const CleanupFact& purged = facts.cleanups.at("purge");
  EXPECT_GE(released.before, kFreed);
  EXPECT_LE(released.after, 0.2 * released.before);
  EXPECT_LE(purged.after, 0.05 * purged.before);
}

// It gives the free pages of a segment (32 MiB) with a live block back at a later free, when it
// gives them back at all.
TEST(MemoryCleanupPages, MimallocGivesBackSegmentsWithoutALiveBlock) {
  const CleanupFacts facts = facts_under(Allocator::mimalloc);
  const CleanupFact& of_all = facts.cleanups.at("give_back_all");
  EXPECT_GE(of_all.before, kFreed);
  EXPECT_LE(of_all.after, 0.6 * of_all.before);
}

TEST(MemoryCleanupNotes, AnAllocatorThatIsNotKnownIsNotTouchedAndSaysSo) {
  const HelperResult ran = capture({MEMDUEL_CLEANUP_UNKNOWN});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "unknown nothing done, none of glibc, jemalloc, tcmalloc and mimalloc serves malloc "
            "here: nothing can be given back\nnot trimmed\nglibc does not serve malloc here: there "
            "are no arenas to limit\n");
}

TEST(MemoryCleanupNotes, DecayThatIsTurnedOffIsSaid) {
  const auto jemalloc = allocator_library(Allocator::jemalloc);
  const CleanupFacts facts = facts_under(
      {"LD_PRELOAD=" + jemalloc.string(), "MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1"});
  EXPECT_THAT(facts.cleanups.at("give_back").notes, HasSubstr("decay is off"));
  EXPECT_EQ(facts.cleanups.at("purge").notes, "");
}

TEST(ArenasOfTheEnvironment, AreTheLimitUntilTheProgramSetsAnother) {
  const CleanupFacts facts = facts_under(std::vector<std::string>{"MALLOC_ARENA_MAX=3"});
  EXPECT_EQ(facts.arenas_at_start.limit, "3");
  EXPECT_EQ(facts.arenas_limited.limit, "2");
  const CleanupFacts wrong = facts_under(std::vector<std::string>{"MALLOC_ARENA_MAX=few"});
  EXPECT_EQ(wrong.arenas_at_start.limit, "-1");
  EXPECT_EQ(wrong.arenas_at_start.note, "MALLOC_ARENA_MAX=few is not a whole number from 1");
}

}  // namespace
}  // namespace memduel
