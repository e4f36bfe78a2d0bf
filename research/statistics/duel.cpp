#include "duel.h"

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "stats/sample_size.h"
#include "stats/trial_order.h"
#include "util/bytes.h"
#include "verdict/gates.h"

namespace memduel::bench {
namespace {

MakeNoise stateless(NoiseSource source) {
  return [source = std::move(source)](Random&) { return source; };
}

double normal_value(Random& random) {
  return kBaseBytes * (1 + 0.01 * random.normal());
}

NoiseSource drifting(Random& random) {
  auto state = std::make_shared<double>(random.normal());
  return [state](const TrialPlace& place, Random& r) {
    *state = 0.7 * *state + std::sqrt(1 - 0.49) * r.normal();
    return kBaseBytes * (1 + 0.05 * place.trial / place.trials + 0.01 * *state);
  };
}

/// The segments up to each interim analysis.
OrderPlan plan_of(int blocks, std::uint64_t seed) {
  if (blocks == kMostBlocks) return {seed, 2, 0, planned_segments(std::nullopt, 1)};
  return {seed, 2, 0, segments_of(blocks)};
}

/// In a segment: what was measured at each of its places.
LabelSwaps swaps_of(const Segment& segment, std::size_t first_value) {
  std::set<int> blocks;
  const int first = 2 * segment.first + 1;
  for (int i = 0; i < 2 * static_cast<int>(segment.superblocks.size()); ++i)
    blocks.insert(first + i);
  PairDeals deals = accepted_deals(segment, 2, 0, {0, 1}, blocks);
  LabelSwaps swaps;
  for (std::size_t i = 0; i < deals.places.size(); ++i) swaps.values.push_back(first_value + i);
  swaps.deals = std::move(deals.deals);
  return swaps;
}

}  // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"normal, 1%",
       stateless([](const TrialPlace&, Random& random) { return normal_value(random); })},
      {"bimodal: 64 MiB arena in 25%", stateless([](const TrialPlace&, Random& random) {
         return normal_value(random) + (random.below(4) == 0 ? 64 * kMiB : 0);
       })},
      {"quantised: 32 MiB x B(4, .3)", stateless([](const TrialPlace&, Random& random) {
         double steps = 0;
         for (int i = 0; i < 4; ++i) steps += random.uniform() < 0.3 ? 1 : 0;
         return kBaseBytes + 32 * kMiB * steps;
       })},
      {"skewed: exponential, 2%", stateless([](const TrialPlace&, Random& random) {
         return kBaseBytes * (1 - 0.02 * std::log(1 - random.uniform()));
       })},
      {"drifting: 5% and AR(1) .7", drifting}};
  return kShapes;
}

RowValues make_session(const MakeNoise& noise, int blocks, double change, Random& random) {
  return make_session(noise, blocks, change, random, random.next());
}

RowValues make_session(const MakeNoise& noise, int blocks, double change, Random& random,
                       std::uint64_t order_seed) {
  Random values(random.next());
  const OrderPlan plan = plan_of(blocks, order_seed);
  const NoiseSource source = noise(values);
  RowValues row;
  int trial = 0;
  for (const Segment& segment : segments_of(plan)) {
    row.placed.swaps.push_back(swaps_of(segment, row.placed.values.size()));
    int superblock = segment.first;
    for (const TrialOrder& order : segment.superblocks) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        const bool second = i % 2 == 1;
        const bool candidate = order[i] == 1;
        double value = source({trial++, 2 * blocks, second, candidate}, values);
        if (candidate) value *= 1 + change;
        (candidate ? row.candidate : row.baseline).push_back(value);
        row.placed.values.push_back({value, candidate, superblock,
                                     2 * superblock + static_cast<int>(i / 2),
                                     second ? 0.5 : -0.5});
      }
      ++superblock;
    }
  }
  return row;
}

RowValues first_blocks(const RowValues& session, int blocks) {
  RowValues part;
  for (const PlacedValue& value : session.placed.values) {
    if (2 * value.superblock >= blocks) continue;
    part.placed.values.push_back(value);
    (value.candidate ? part.candidate : part.baseline).push_back(value.value);
  }
  for (const LabelSwaps& swaps : session.placed.swaps)
    if (swaps.values.back() < part.placed.values.size()) part.placed.swaps.push_back(swaps);
  return part;
}

MakeNoise position_noise(double deviations) {
  return stateless([deviations](const TrialPlace& place, Random& random) {
    return kBaseBytes * (1 + 0.01 * (random.normal() + (place.second ? deviations : 0)));
  });
}

MeasuredRow measure(RowValues session, std::optional<double> noise_floor) {
  return measure_row({metric_info("peak_rss_bytes"), Design::restricted, noise_floor},
                     std::move(session));
}

DecidedRow judge(RowValues session, std::optional<double> noise_floor) {
  MeasuredRow row = measure(std::move(session), noise_floor);
  const RowLevel level{0.05, 1, row.p_value};
  return decide(std::move(row), level);
}

bool flagged(const DecidedRow& row) {
  return row.comparison.verdict == Verdict::improved ||
         row.comparison.verdict == Verdict::regressed;
}

bool Count::at_most(double limit) const {
  if (hits == 0) return true;
  return boost::math::binomial_distribution<>::find_lower_bound_on_p(of, hits, 0.001) <= limit;
}

std::vector<Count> repeated(int repetitions, std::uint64_t seed, std::size_t counters,
                            const std::function<void(Random&, std::vector<int>&)>& once) {
  constexpr int kParts = 64;
  std::vector<std::vector<int>> counts(kParts, std::vector<int>(counters, 0));
  const auto work = [&](int first, int step) {
    for (int part = first; part < kParts; part += step) {
      Random random(seed * 1000 + static_cast<std::uint64_t>(part));
      const int from = static_cast<int>(static_cast<long>(repetitions) * part / kParts);
      const int to = static_cast<int>(static_cast<long>(repetitions) * (part + 1) / kParts);
      for (int i = from; i < to; ++i) once(random, counts[static_cast<std::size_t>(part)]);
    }
  };
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  {
    std::vector<std::jthread> threads;
    for (int core = 0; core < cores; ++core) threads.emplace_back(work, core, cores);
  }
  std::vector<Count> sums(counters, Count{0, repetitions});
  for (const auto& part : counts)
    for (std::size_t i = 0; i < counters; ++i) sums[i].hits += part[i];
  return sums;
}

}  // namespace memduel::bench
