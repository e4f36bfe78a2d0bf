#include "workloads/graphs/injection.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "workloads/datasets/random.h"

namespace memduel {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::uint64_t kStandardIds = 0x800;  // 11 bits

std::int64_t period_us(Attack attack) {
  switch (attack) {
    case Attack::dos:
      return 300;
    case Attack::fuzzy:
      return 500;
    case Attack::spoofing:
      return 1000;
  }
  return 1000;
}

/// A duration in [low, low + 2 s).
std::int64_t seconds_from(int low, RandomEngine& engine) {
  return low * kSecondUs +
         static_cast<std::int64_t>(uniform_below(engine, std::uint64_t{2} * kSecondUs));
}

void fill_with_random_bytes(CanFrame& frame, RandomEngine& engine) {
  for (std::size_t i = 0; i < frame.length; ++i)
    frame.bytes[i] = static_cast<std::uint8_t>(uniform_below(engine, 256));
}

/// A frame of the most frequent identifier; of equals the smallest.
CanFrame most_frequent(const std::vector<CanFrame>& traffic) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const CanFrame& frame : traffic) ++counts[frame.id];
  const auto most = std::ranges::max_element(
      counts, [](const auto& a, const auto& b) { return a.second < b.second; });
  return *std::ranges::find_if(traffic,
                               [&](const CanFrame& frame) { return frame.id == most->first; });
}

/// What one intrusion injects.
class Intruder {
 public:
  Intruder(Attack attack, const CanFrame& victim, RandomEngine& engine)
      : attack_(attack), engine_(engine) {
    frame_.attack = true;
    frame_.length = attack == Attack::spoofing ? victim.length : kMostCanBytes;
    if (attack != Attack::spoofing) return;
    frame_.id = victim.id;
    fill_with_random_bytes(frame_, engine_);
  }

  CanFrame next(std::int64_t time_us) {
    frame_.time_us = time_us;
    if (attack_ == Attack::fuzzy) {
      frame_.id = static_cast<std::uint32_t>(uniform_below(engine_, kStandardIds));
      fill_with_random_bytes(frame_, engine_);
    }
    return frame_;
  }

 private:
  Attack attack_;
  RandomEngine& engine_;
  CanFrame frame_;
};

}  // namespace

std::vector<CanFrame> inject(const std::vector<CanFrame>& traffic, Attack attack,
                             std::uint64_t seed) {
  if (traffic.empty()) return {};
  RandomEngine engine(seed);
  const CanFrame victim = most_frequent(traffic);
  std::vector<CanFrame> injected;
  const std::int64_t end = traffic.back().time_us;
  std::int64_t at = traffic.front().time_us + seconds_from(2, engine);
  while (at < end) {
    const std::int64_t stop = std::min(end, at + seconds_from(3, engine));
    Intruder intruder(attack, victim, engine);
    for (; at < stop; at += period_us(attack)) injected.push_back(intruder.next(at));
    at = stop + seconds_from(2, engine);
  }
  std::vector<CanFrame> all;
  all.reserve(traffic.size() + injected.size());
  std::merge(traffic.begin(), traffic.end(), injected.begin(), injected.end(),
             std::back_inserter(all),
             [](const CanFrame& a, const CanFrame& b) { return a.time_us < b.time_us; });
  return all;
}

}  // namespace memduel
