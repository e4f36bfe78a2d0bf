// A generator that gives the same numbers with every standard library (std::shuffle and the std
// distributions do not).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace memduel {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Uniform over 0 … n - 1, n > 0; values that would favour small numbers are drawn again.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t unfair = (0 - n) % n;
    std::uint64_t x = next();
    while (x < unfair) x = next();
    return x % n;
  }

  bool coin() { return (next() >> 63) != 0; }

  /// Uniform over [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Standard normal (Box and Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace memduel
