#include "reports/watch_metrics.h"

#include <gtest/gtest.h>

#include "test_golden.h"

namespace memduel {
namespace {

constexpr std::int64_t kMibOfRoles = 1 << 20;

WatchSnapshot two_roles() {
  WatchSnapshot snapshot;
  snapshot.rss_bytes = 240 * kMibOfRoles;
  snapshot.peak_rss_bytes = 300 * kMibOfRoles;
  snapshot.roles = {{"command-1", 3, 200 * kMibOfRoles, 150 * kMibOfRoles, 250 * kMibOfRoles},
                    {"command-2", 0, std::nullopt, std::nullopt, 90 * kMibOfRoles}};
  return snapshot;
}

// prometheus_client 0.x reads both files with its parsers of the text format and of OpenMetrics.
TEST(WatchMetrics, AreGaugesOfEachRole) {
  expect_golden("watch.prom", watch_metrics(two_roles(), "night \"1\"\\2"));
}

TEST(WatchMetrics, OfAWatchThatIsOverAreItsPeaks) {
  expect_golden("watch-ended.prom", watch_metrics(two_roles(), "night", 1796025600.25));
}

TEST(WatchMetrics, OmitWhatWasNotMeasured) {
  EXPECT_EQ(watch_metrics({}, "night"), "# EOF\n");
}

}  // namespace
}  // namespace memduel
