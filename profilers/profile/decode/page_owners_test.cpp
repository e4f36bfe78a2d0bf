// Owners of made-up pages; what each has follows from the layout.
#include "page_owners.h"

#include <gtest/gtest.h>

#include <random>

namespace memduel {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;

AddressRange pages(std::uint64_t first, std::uint64_t count) {
  return {kBase + first * kPageBytes, kBase + (first + count) * kPageBytes};
}

ResidentMapping mapping_of(const AddressRange& at, const std::string& name = {},
                           std::uint32_t flags = recorder::kMappingWritable) {
  ResidentMapping mapping;
  mapping.at = at;
  mapping.flags = flags;
  mapping.name = name;
  mapping.runs = {{at, false}};
  mapping.resident_bytes = at.end - at.begin;
  mapping.alone_bytes = mapping.resident_bytes;
  return mapping;
}

ResidentPages one_mapping(const ResidentMapping& mapping) {
  ResidentPages pages;
  pages.mappings = {mapping};
  pages.resident_bytes = mapping.resident_bytes;
  return pages;
}

double bytes_of(const OwnedBySite& owned, std::uint32_t site) {
  return site < owned.size() ? owned[site].bytes : 0;
}

double bytes_of(const PageOwners& owners, PageOwner owner, const std::string& name = {}) {
  double sum = 0;
  for (const ResidentPart& part : owners.others)
    if (part.owner == owner && (name.empty() || part.name == name)) sum += part.bytes;
  return sum;
}

double sum_of(const PageOwners& owners) {
  double sum = 0;
  for (const OwnedBySite* owned : {&owners.live, &owners.pinned, &owners.mapping})
    for (const OwnedBytes& amount : *owned) sum += amount.bytes;
  for (const ResidentPart& part : owners.others) sum += part.bytes;
  return sum;
}

TEST(PageOwners, FreeSpaceBetweenTwoBlocksIsPinnedByBothHalfEach) {
  const ResidentPages heap = one_mapping(mapping_of(pages(0, 1), "[heap]"));
  const LiveSet live{
      {{{kBase + 1000, kBase + 1100}, 1}, {{kBase + 2100, kBase + 2200}, 2}}, {}, {}};
  const PageOwners owners = owners_of(heap, live);
  EXPECT_EQ(bytes_of(owners.live, 1), 100);
  EXPECT_EQ(bytes_of(owners.live, 2), 100);
  EXPECT_EQ(bytes_of(owners.pinned, 1), 1000 + 500);
  EXPECT_EQ(bytes_of(owners.pinned, 2), 500 + (4096 - 2200));
  EXPECT_EQ(bytes_of(owners, PageOwner::free), 0);
}

TEST(PageOwners, WholePagesBetweenBlocksAreHeld) {
  const ResidentPages heap = one_mapping(mapping_of(pages(0, 4), "[heap]"));
  const LiveSet live{
      {{{kBase, kBase + 100}, 1}, {{kBase + 3 * 4096 + 4000, kBase + 4 * 4096}, 2}}, {}, {}};
  const PageOwners owners = owners_of(heap, live);
  EXPECT_EQ(bytes_of(owners.pinned, 1), 4096 - 100);
  EXPECT_EQ(bytes_of(owners.pinned, 2), 4000);
  EXPECT_EQ(bytes_of(owners, PageOwner::free, "program-break"), 2 * 4096);
}

TEST(PageOwners, OfABlockOnlyTheTouchedPagesCountAndTheRestIsUntouched) {
  ResidentMapping mapping = mapping_of(pages(0, 100));
  mapping.runs = {{pages(3, 1), false}, {pages(50, 10), false}};
  mapping.resident_bytes = 11 * kPageBytes;
  const PageOwners owners = owners_of(one_mapping(mapping), {{{pages(0, 100), 7}}, {}, {}});
  EXPECT_EQ(bytes_of(owners.live, 7), 11 * 4096);
  EXPECT_EQ(owners.live.at(7).ranges, 1) << "one block, in two runs";
  EXPECT_EQ(bytes_of(owners.untouched_blocks, 7), 89 * 4096);
}

TEST(PageOwners, BlocksComeBeforeTheMappingThatTheyLieIn) {
  const LiveSet live{{{{kBase + 4096, kBase + 8192}, 1}}, {{pages(0, 4), 2}}, {}};
  const PageOwners owners = owners_of(one_mapping(mapping_of(pages(0, 4))), live);
  EXPECT_EQ(bytes_of(owners.live, 1), 4096);
  EXPECT_EQ(bytes_of(owners.mapping, 2), 3 * 4096);
}

TEST(PageOwners, FilesAreNamedWithoutTheirFolderAndCopiesToldApart) {
  ResidentMapping library = mapping_of(pages(0, 4), "/usr/lib/libx.so (deleted)");
  library.runs = {{pages(0, 3), true}, {pages(3, 1), false}};
  const PageOwners owners = owners_of(one_mapping(library), {});
  ASSERT_EQ(owners.others.size(), 2U);
  EXPECT_EQ(owners.others[0].name, "libx.so");
  EXPECT_EQ(owners.others[0].share, "private-copy");
  EXPECT_EQ(owners.others[0].bytes, 4096);
  EXPECT_EQ(owners.others[1].share, "shared");
  EXPECT_EQ(owners.others[1].bytes, 3 * 4096);
}

TEST(PageOwners, SharedMemoryIsOneWhateverItsName) {
  ResidentPages all = one_mapping(mapping_of(pages(0, 2), "/dev/zero (deleted)"));
  all.mappings.push_back(mapping_of(pages(2, 3), "/dev/shm/PostgreSQL.2379493408"));
  all.mappings.push_back(mapping_of(pages(5, 4), "/SYSV00000000 (deleted)"));
  EXPECT_EQ(bytes_of(owners_of(all, {}), PageOwner::file, "shared-memory"), 9 * 4096);
}

TEST(PageOwners, AStackReachesFromItsMappingsBeginToItsThreadsDescriptor) {
  ResidentPages pages_of = one_mapping(mapping_of(pages(0, 20)));
  pages_of.stacks = {kBase + 9 * kPageBytes + 0x2e0};
  const PageOwners owners = owners_of(pages_of, {});
  EXPECT_EQ(bytes_of(owners, PageOwner::stack, "other-threads"), 10 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::other, "anonymous"), 10 * 4096)
      << "what the kernel joined to its mapping";
}

TEST(PageOwners, TheRecordersPagesComeFirst) {
  ResidentPages all = one_mapping(mapping_of(pages(0, 8)));
  all.mappings.push_back(mapping_of(pages(8, 2), "/x/lib/libmemduel_recorder.so"));
  all.own = {pages(2, 2)};
  const PageOwners owners = owners_of(all, {{}, {{pages(0, 8), 1}}, {}});
  EXPECT_EQ(bytes_of(owners, PageOwner::recorder), 4 * 4096);
  EXPECT_EQ(bytes_of(owners.mapping, 1), 6 * 4096);
}

TEST(PageOwners, OfTheAllocatorAreItsBreakItsArenasAndWhatItMapped) {
  ResidentPages all = one_mapping(mapping_of(pages(0, 2), "[heap]"));
  all.mappings.push_back(mapping_of(pages(2, 3)));
  all.arenas = {pages(2, 3)};
  all.mappings.push_back(mapping_of(pages(5, 4)));
  all.allocator = {pages(5, 1)};
  const PageOwners owners = owners_of(all, {});
  EXPECT_EQ(bytes_of(owners, PageOwner::free, "program-break"), 2 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::free, "further-arenas"), 3 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::free, "allocator-mappings"), 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::other), 3 * 4096);
}

TEST(PageOwners, AForkedProcessInheritsWhatOthersMapToo) {
  ResidentMapping mapping = mapping_of(pages(0, 8));
  mapping.alone_bytes = 2 * kPageBytes;
  const PageOwners owners = owners_of(one_mapping(mapping), {{}, {}, true});
  EXPECT_EQ(bytes_of(owners, PageOwner::inherited, "shared-with-others"), 6 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::inherited, "own-copy"), 2 * 4096);
}

/// Live blocks and mappings of a forked process, and the pages that its parent had.
LiveSet forked(const MemoryAtFork& at_fork) {
  LiveSet live;
  live.forked = true;
  live.at_fork = at_fork;
  return live;
}

TEST(PageOwners, AForkedProcessInheritsOnlyWhatItsParentHadInMemory) {
  ResidentPages all = one_mapping(mapping_of(pages(0, 20), "[heap]"));
  all.mappings.push_back(mapping_of(pages(30, 10)));  // an arena, made after the fork
  all.mappings.push_back(mapping_of(pages(50, 6)));   // mapped before, half of it touched before
  all.mappings.push_back(mapping_of(pages(60, 2)));   // nobody's
  all.mappings[0].alone_bytes = 15 * kPageBytes;
  all.arenas = {pages(30, 10)};
  const PageOwners owners =
      owners_of(all, forked({{pages(0, 8), pages(50, 6)}, {pages(0, 8), pages(50, 3)}}));
  EXPECT_EQ(bytes_of(owners, PageOwner::inherited, "shared-with-others"), 5 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::inherited, "own-copy"), (3 + 3) * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::free, "program-break"), 12 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::free, "further-arenas"), 10 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::mapped, "mapped-before-fork"), 3 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::other, "anonymous"), 2 * 4096);
}

TEST(PageOwners, OnAnInheritedPageTheRestBesideAnOwnBlockIsInherited) {
  LiveSet live = forked({{pages(0, 2)}, {pages(0, 1)}});
  live.blocks = {{{kBase + 1000, kBase + 1100}, 1}, {{kBase + 4096, kBase + 4196}, 1}};
  const PageOwners owners = owners_of(one_mapping(mapping_of(pages(0, 2), "[heap]")), live);
  EXPECT_EQ(bytes_of(owners.live, 1), 200);
  EXPECT_EQ(bytes_of(owners, PageOwner::inherited, "own-copy"), 4096 - 100);
  EXPECT_EQ(bytes_of(owners.pinned, 1), 4096 - 100) << "the second page is the child's";
}

TEST(PageOwners, ALibrarysVariablesThatAForkedProcessHasFromItsParentAreInherited) {
  ResidentMapping library = mapping_of(pages(0, 6), "/usr/lib/libx.so");
  library.runs = {{pages(0, 2), true}, {pages(2, 4), false}};
  library.alone_bytes = 2 * kPageBytes;
  const PageOwners owners = owners_of(one_mapping(library), forked({{pages(0, 6)}, {pages(2, 3)}}));
  EXPECT_EQ(bytes_of(owners, PageOwner::inherited, "shared-with-others"), 3 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::file, "libx.so"), (2 + 1) * 4096);
}

TEST(PageOwners, AMappingThatAForkedProcessMadeIsItsOwnWhateverLayThere) {
  LiveSet live = forked({{pages(0, 4)}, {pages(0, 4)}});
  live.mappings = {{pages(0, 2), 3}};
  const PageOwners owners = owners_of(one_mapping(mapping_of(pages(0, 4))), live);
  EXPECT_EQ(bytes_of(owners.mapping, 3), 2 * 4096);
  EXPECT_EQ(bytes_of(owners, PageOwner::inherited), 2 * 4096);
}

TEST(PageOwners, PagesBeyondTheKernelsCountAreThoseOfZeros) {
  ResidentMapping mapping = mapping_of(pages(0, 8));
  mapping.resident_bytes = 2 * kPageBytes;
  const PageOwners owners = owners_of(one_mapping(mapping), {{{pages(0, 4), 1}}, {}, {}});
  EXPECT_EQ(bytes_of(owners.live, 1), 4096) << "half of what lies on it, as of the whole";
  EXPECT_EQ(sum_of(owners), 2 * 4096);
}

// Whatever lies where, blocks overlapping or not: no byte is lost and none counted twice.
TEST(PageOwners, SumUpToThePages) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    ResidentPages all;
    std::uint64_t page = 0;
    double resident = 0;
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t size = 1 + random() % 30;
      ResidentMapping mapping = mapping_of(pages(page, size), i % 3 == 0 ? "[heap]" : "");
      mapping.runs.clear();
      mapping.resident_bytes = 0;
      for (std::uint64_t at = 0; at < size;) {
        const std::uint64_t run = std::min(size - at, 1 + random() % 5);
        if (random() % 3 != 0) {
          mapping.runs.push_back({pages(page + at, run), false});
          mapping.resident_bytes += run * kPageBytes;
        }
        at += run;
      }
      resident += static_cast<double>(mapping.resident_bytes);
      all.mappings.push_back(mapping);
      page += size + random() % 3;
    }
    all.own = {pages(random() % page, 1)};
    LiveSet live;
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t begin = kBase + random() % (page * kPageBytes);
      live.blocks.push_back({{begin, begin + 1 + random() % 9000}, std::uint32_t(i % 7)});
    }
    live.mappings = {{pages(random() % page, 4), 1}};
    live.forked = round % 2 == 1;
    if (round % 4 == 3) {
      const std::uint64_t middle = random() % page;
      live.at_fork = {{pages(0, middle + 1)}, {pages(0, middle / 2), pages(middle, 1)}};
    }
    EXPECT_NEAR(sum_of(owners_of(all, live)), resident, 1e-6) << round;
  }
}

}  // namespace
}  // namespace memduel
