// Random numbers that are the same with every standard library: the standard fixes the engine's
// numbers, but neither std::shuffle's nor any distribution's use of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace memduel {

using RandomEngine = std::mt19937_64;

/// A whole number in [0, bound), without modulo bias. `bound` must not be 0.
inline std::uint64_t uniform_below(RandomEngine& engine, std::uint64_t bound) {
  const std::uint64_t unfair = (UINT64_MAX - bound + 1) % bound;
  std::uint64_t draw = engine();
  while (draw < unfair) draw = engine();
  return draw % bound;
}

/// A number in [0, 1) with 53 random bits.
inline double uniform_unit(RandomEngine& engine) {
  return static_cast<double>(engine() >> 11) * 0x1p-53;
}

/// A standard normal number (Box–Muller, one of the pair).
inline double standard_normal(RandomEngine& engine) {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform_unit(engine)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform_unit(engine));
}

/// 0, 1, …, count - 1 in random order (Fisher–Yates).
inline std::vector<std::size_t> random_order(std::size_t count, RandomEngine& engine) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[uniform_below(engine, i)]);
  return order;
}

}  // namespace memduel
