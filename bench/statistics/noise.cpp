#include "bench/statistics/noise.h"

#include <cmath>
#include <memory>
#include <utility>

#include "base/byte_units.h"

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

/// The places of one superblock: whether each is the candidate's.
std::vector<bool> dealt(std::size_t blocks, Random& random) {
  std::vector<bool> order;
  for (std::size_t i = 0; i < 2 * blocks; ++i) order.push_back(i % 2 == 1);
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::size_t other = random.below(left);
    const bool kept = order[left - 1];
    order[left - 1] = order[other];
    order[other] = kept;
  }
  return order;
}

}  // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"normal, 1 %",
       stateless([](const TrialPlace&, Random& random) { return normal_value(random); })},
      {"bimodal: 64 MiB arena in 25 %", stateless([](const TrialPlace&, Random& random) {
         return normal_value(random) + (random.below(4) == 0 ? 64 * kMiB : 0);
       })},
      {"quantised: 32 MiB x B(4, .3)", stateless([](const TrialPlace&, Random& random) {
         double steps = 0;
         for (int i = 0; i < 4; ++i) steps += random.uniform() < 0.3 ? 1 : 0;
         return kBaseBytes + 32 * kMiB * steps;
       })},
      {"skewed: exponential, 2 %", stateless([](const TrialPlace&, Random& random) {
         return kBaseBytes * (1 - 0.02 * std::log(1 - random.uniform()));
       })},
      {"drifting: 5 % and AR(1) .7", drifting}};
  return kShapes;
}

RowValues make_session(const MakeNoise& noise, int blocks, double change, Random& random) {
  const NoiseSource source = noise(random);
  RowValues row;
  int trial = 0;
  for (int first = 0; first < blocks; first += 2) {
    const std::vector<bool> order =
        dealt(static_cast<std::size_t>(std::min(2, blocks - first)), random);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool second = i % 2 == 1;
      double value = source({trial++, 2 * blocks, second, order[i]}, random);
      if (order[i]) value *= 1 + change;
      (order[i] ? row.candidate : row.baseline).push_back(value);
      const int superblock = first / 2;
      row.placed.push_back({value, order[i], superblock, 2 * superblock + static_cast<int>(i / 2),
                            second ? 0.5 : -0.5});
    }
  }
  return row;
}

RowValues first_blocks(const RowValues& session, int blocks) {
  RowValues part;
  for (const PlacedValue& value : session.placed) {
    if (2 * value.superblock >= blocks) continue;
    part.placed.push_back(value);
    (value.candidate ? part.candidate : part.baseline).push_back(value.value);
  }
  return part;
}

MakeNoise position_noise(double deviations) {
  return stateless([deviations](const TrialPlace& place, Random& random) {
    return kBaseBytes * (1 + 0.01 * (random.normal() + (place.second ? deviations : 0)));
  });
}

}  // namespace memduel::bench
