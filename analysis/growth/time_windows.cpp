#include "analysis/growth/time_windows.h"

#include <algorithm>

namespace memduel {
namespace {

constexpr int kWindows = 60;
constexpr std::int64_t kShortestLifeNs = 10'000'000'000;

}  // namespace

std::vector<RoundEnd> time_windows(const Series& rss) {
  std::vector<RoundEnd> windows;
  if (rss.t_ns.empty() || rss.t_ns.back() - rss.t_ns.front() < kShortestLifeNs) return windows;
  const std::int64_t begin_ns = rss.t_ns.front();
  const std::int64_t length_ns = rss.t_ns.back() - begin_ns;
  std::size_t at = 0;
  std::int64_t held = rss.values.front();
  for (int window = 0; window < kWindows; ++window) {
    RoundEnd end{window + 1, begin_ns + length_ns * window / kWindows,
                 begin_ns + length_ns * (window + 1) / kWindows, 0};
    std::int64_t smallest = held;
    for (; at < rss.t_ns.size() && rss.t_ns[at] < end.end_ns; ++at) {
      held = rss.values[at];
      smallest = std::min(smallest, held);
    }
    end.rss_bytes = static_cast<double>(smallest);
    windows.push_back(end);
  }
  return windows;
}

}  // namespace memduel
