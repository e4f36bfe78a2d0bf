#include "live_heap.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace memduel {
namespace {

// Copies everything at each new maximum, which is what the tracker saves.
struct Bookkeeper {
  std::vector<Estimate> current;
  std::vector<Estimate> copy;
  Estimate total;
  double peak = 0;

  void restart() {
    peak = total.bytes;
    copy = current;
  }
  void note() {
    if (total.bytes > peak) restart();
  }
};

std::map<std::uint32_t, double> bytes_of(const LiveSites& sites) {
  std::map<std::uint32_t, double> bytes;
  for (const auto& [site, amount] : sites) bytes[site] = amount.bytes;
  return bytes;
}

TEST(PeakTracker, AgreesWithACopyAtEachMaximumForRandomHistories) {
  constexpr std::uint32_t kSites = 20;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    Bookkeeper expected;
    expected.current.resize(kSites);
    expected.copy.resize(kSites);
    PeakTracker tracker;
    for (int step = 0; step < 2000; ++step) {
      if (random() % 300 == 0) {
        expected.restart();
        tracker.restart(expected.total);
      }
      const auto site = static_cast<std::uint32_t>(random() % kSites);
      Estimate& current = expected.current[site];
      const bool falling = current.samples > 0 && random() % 2 == 0;
      const Estimate change{falling ? current.bytes / static_cast<double>(current.samples)
                                    : 64.0 * static_cast<double>(1 + random() % 100),
                            1, 0, 1};
      tracker.before_change(site, current, falling);
      if (falling) {
        current -= change;
        expected.total -= change;
      } else {
        current += change;
        expected.total += change;
      }
      tracker.after_change(expected.total);
      expected.note();
    }
    std::map<std::uint32_t, double> copied;
    for (std::uint32_t site = 0; site < kSites; ++site) {
      if (expected.copy[site].samples > 0) copied[site] = expected.copy[site].bytes;
    }
    EXPECT_EQ(bytes_of(tracker.at_peak(expected.current)), copied) << seed;
  }
}

TEST(PeakTracker, AProgramThatOnlyGrowsPeaksAtItsEnd) {
  PeakTracker tracker;
  const std::vector<Estimate> current{{100, 1, 0, 1}, {50, 1, 0, 1}};
  tracker.before_change(0, {}, false);
  tracker.after_change({100, 1, 0, 1});
  tracker.before_change(1, {}, false);
  tracker.after_change({150, 2, 0, 2});
  EXPECT_EQ(bytes_of(tracker.at_peak(current)),
            (std::map<std::uint32_t, double>{{0, 100}, {1, 50}}));
}

}  // namespace
}  // namespace memduel
