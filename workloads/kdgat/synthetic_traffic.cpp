#include "synthetic_traffic.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <queue>

#include "data/random.h"

namespace memduel {
namespace {

constexpr std::uint32_t kIds = 34;
constexpr std::uint32_t kFirstId = 0x040;
constexpr std::uint32_t kIdStep = 0x02f;
constexpr double kJitter = 0.02;

enum class ByteKind { constant, counter, sensor, random };

struct Sender {
  std::uint32_t id = 0;
  std::int64_t period_us = 0;
  std::int64_t next_us = 0;
  std::uint8_t length = 0;
  std::array<std::uint8_t, kMostCanBytes> bytes{};
};

/// Ten identifiers of 10 ms, down to three of 1 s: 1,373 frames a second, where the drive has
/// 1,354.
std::int64_t period_of(std::uint32_t number) {
  if (number < 10) return 10'000;
  if (number < 16) return 20'000;
  if (number < 17) return 50'000;
  if (number < 19) return 100'000;
  if (number < 21) return 200'000;
  return number < 31 ? 500'000 : 1'000'000;
}

/// Mostly 8, some of 7, few shorter.
std::uint8_t length_of(std::uint32_t number) {
  constexpr std::array<std::uint8_t, 8> kLengths = {8, 8, 7, 8, 8, 7, 8, 6};
  return number == 16 ? 2 : kLengths[number % kLengths.size()];
}

ByteKind kind_of(std::uint32_t sender, std::size_t byte) {
  return static_cast<ByteKind>((sender * 5 + byte * 3) % 4);
}

void advance(std::uint8_t& byte, ByteKind kind, RandomEngine& engine) {
  switch (kind) {
    case ByteKind::constant:
      return;
    case ByteKind::counter:
      ++byte;
      return;
    case ByteKind::sensor:
      byte = static_cast<std::uint8_t>(
          std::clamp<int>(byte + static_cast<int>(uniform_below(engine, 5)) - 2, 0, 255));
      return;
    case ByteKind::random:
      byte = static_cast<std::uint8_t>(uniform_below(engine, 256));
  }
}

std::vector<Sender> make_senders(std::int64_t start_us, RandomEngine& engine) {
  std::vector<Sender> senders;
  for (std::uint32_t number = 0; number < kIds; ++number) {
    Sender sender{kFirstId + number * kIdStep, period_of(number), start_us, length_of(number), {}};
    sender.next_us += static_cast<std::int64_t>(
        uniform_below(engine, static_cast<std::uint64_t>(sender.period_us)));
    for (std::size_t i = 0; i < sender.length; ++i)
      sender.bytes[i] = static_cast<std::uint8_t>(uniform_below(engine, 256));
    senders.push_back(sender);
  }
  return senders;
}

}  // namespace

std::vector<CanFrame> generate_traffic(std::size_t count, std::int64_t start_us,
                                       std::uint64_t seed) {
  RandomEngine engine(seed);
  std::vector<Sender> senders = make_senders(start_us, engine);
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(senders[a].next_us, a) > std::pair(senders[b].next_us, b);
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> due(later);
  for (std::uint32_t number = 0; number < kIds; ++number) due.push(number);
  std::vector<CanFrame> frames;
  frames.reserve(count);
  while (frames.size() < count) {
    const std::uint32_t number = due.top();
    due.pop();
    Sender& sender = senders[number];
    for (std::size_t i = 0; i < sender.length; ++i)
      advance(sender.bytes[i], kind_of(number, i), engine);
    frames.push_back({sender.next_us, sender.id, sender.length, false, sender.bytes});
    const double off = (2 * uniform_unit(engine) - 1) * kJitter;
    sender.next_us += static_cast<std::int64_t>(static_cast<double>(sender.period_us) * (1 + off));
    due.push(number);
  }
  return frames;
}

std::vector<std::uint32_t> generated_ids() {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t number = 0; number < kIds; ++number)
    ids.push_back(kFirstId + number * kIdStep);
  return ids;
}

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
