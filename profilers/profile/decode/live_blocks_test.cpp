#include "live_blocks.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr std::uint64_t kBlock = 16 * kMebibyte;
constexpr std::uint64_t kMapping = 64 * kMebibyte;
constexpr std::uint32_t kFirstMappingSite = 100;

/// Each stack has one site, in the order of their first use.
class BothHeaps : public testing::Test {
 protected:
  void allocate(std::uint64_t address, std::uint64_t mebibytes, std::uint32_t stack) {
    blocks_.allocate(address, {mebibytes * kMebibyte, 0, 0}, stack, {});
  }
  void map(std::uint64_t address, std::uint64_t bytes, std::uint32_t stack) {
    mappings_.map(address, bytes, stack, {});
  }
  std::vector<std::pair<std::uint32_t, double>> peak() {
    std::vector<std::pair<std::uint32_t, double>> sites;
    for (const auto& [site, amount] : together_.peak(kFirstMappingSite).sites)
      sites.emplace_back(site, amount.bytes / static_cast<double>(kMebibyte));
    return sites;
  }
  double total() { return together_.peak(kFirstMappingSite).total.bytes / double{kMebibyte}; }

  TogetherPeak together_;
  LiveBlocks blocks_{together_};
  LiveMappings mappings_{together_};
};

using Site = std::pair<std::uint32_t, double>;

TEST_F(BothHeaps, ThePeakIsOfTheSumAndNotTheSumOfPeaks) {
  allocate(kBlock, 10, 1);
  map(kMapping, kMebibyte, 2);
  blocks_.free(kBlock, {});
  map(kMapping + 2 * kMebibyte, kMebibyte, 2);
  map(kMapping + 4 * kMebibyte, kMebibyte, 2);
  EXPECT_THAT(peak(), testing::ElementsAre(Site(0, 10), Site(kFirstMappingSite, 1)));
  EXPECT_EQ(total(), 11);
}

TEST_F(BothHeaps, AMappingOf2MiBOrMoreCountsAsFarAsItIsTouched) {
  map(kMapping, 64 * kMebibyte, 1);  // a reservation that nobody touches
  map(2 * kMapping, 32 * kMebibyte, 2);
  EXPECT_EQ(total(), 0) << "nobody looked";
  EXPECT_EQ(mappings_.unknown_bytes(), 96 * kMebibyte);
  mappings_.touch(kMapping, 2 * kMapping, 0);
  mappings_.touch(2 * kMapping, 2 * kMapping + 32 * kMebibyte, 30 * kMebibyte);
  allocate(kBlock, 5, 3);
  EXPECT_EQ(mappings_.unknown_bytes(), 0);
  EXPECT_THAT(peak(), testing::ElementsAre(Site(0, 5), Site(kFirstMappingSite + 1, 30)));
}

TEST_F(BothHeaps, WhatIsUntouchedAgainOrUnmappedLeavesThePeakAsItWas) {
  map(kMapping, 8 * kMebibyte, 1);
  mappings_.touch(kMapping, kMapping + 8 * kMebibyte, 8 * kMebibyte);
  mappings_.touch(kMapping, kMapping + 8 * kMebibyte, 2 * kMebibyte);
  mappings_.unmap(kMapping, kMapping + 4 * kMebibyte,
                  {});  // half of it, and half of what is touched
  allocate(kBlock, 6, 2);
  EXPECT_THAT(peak(), testing::ElementsAre(Site(kFirstMappingSite, 8)));
  allocate(2 * kBlock, 2, 2);
  EXPECT_THAT(peak(), testing::ElementsAre(Site(0, 8), Site(kFirstMappingSite, 1)));
}

TEST_F(BothHeaps, WhatASmallMappingNeverTouchedIsLeftOut) {
  const auto look = [&](std::uint64_t at, std::uint64_t kibibytes) {
    mappings_.touch(at, at + kMebibyte, kibibytes * 1024);
  };
  const auto go = [&](std::uint64_t at) { mappings_.unmap(at, at + kMebibyte, {}); };
  map(kMapping, kMebibyte, 1);
  map(kMapping + kMebibyte, kMebibyte, 2);
  map(kMapping + 2 * kMebibyte, kMebibyte, 3);
  allocate(kBlock, 4, 1);
  EXPECT_EQ(total(), 7) << "nobody looked";
  look(kMapping, 512);
  go(kMapping);
  map(kMapping + 3 * kMebibyte, kMebibyte, 3);  // not there at the peak
  look(kMapping + 3 * kMebibyte, 0);
  go(kMapping + 3 * kMebibyte);
  look(kMapping + 2 * kMebibyte, 1024);  // before its pages are given back
  look(kMapping + 2 * kMebibyte, 0);
  look(kMapping + kMebibyte, 768);
  mappings_.finish();
  EXPECT_THAT(peak(), testing::ElementsAre(Site(0, 4), Site(kFirstMappingSite, 0.5),
                                           Site(kFirstMappingSite + 1, 0.75),
                                           Site(kFirstMappingSite + 2, 1)));
}

TEST_F(BothHeaps, PartsOfASmallMappingAreLookedAtOnTheirOwn) {
  map(kMapping, kMebibyte, 1);
  allocate(kBlock, 1, 1);
  mappings_.touch(kMapping, kMapping + kMebibyte / 2, 0);
  mappings_.unmap(kMapping, kMapping + kMebibyte / 2, {});
  EXPECT_EQ(total(), 1.5);
  mappings_.touch(kMapping + kMebibyte / 2, kMapping + kMebibyte, kMebibyte / 4);
  mappings_.finish();
  EXPECT_EQ(total(), 1.25);
}

TEST_F(BothHeaps, ALaterPeakBeginsAnewWithSmallMappings) {
  map(kMapping, kMebibyte, 1);
  mappings_.touch(kMapping, kMapping + kMebibyte, 0);
  mappings_.unmap(kMapping, kMapping + kMebibyte, {});
  EXPECT_EQ(total(), 0);
  map(kMapping, kMebibyte, 1);
  allocate(kBlock, 1, 1);
  EXPECT_EQ(total(), 2);
}

TEST_F(BothHeaps, AFreeThatIsTakenBackCounts) {
  allocate(kBlock, 4, 1);
  const auto freed = blocks_.free(kBlock, {});
  ASSERT_TRUE(freed);
  blocks_.revive(kBlock, *freed, {});
  map(kMapping, kMebibyte, 1);
  EXPECT_EQ(total(), 5);
}

}  // namespace
}  // namespace memduel
