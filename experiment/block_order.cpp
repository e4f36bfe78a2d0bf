#include "experiment/block_order.h"

#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace memduel {
namespace {

/// Uniform in 0..bound-1. The standard fixes mt19937_64's numbers, but not those of its
/// distributions, nor what std::shuffle draws.
std::uint64_t below(std::mt19937_64& engine, std::uint64_t bound) {
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t unbiased = largest - largest % bound;
  std::uint64_t draw = engine();
  while (draw >= unbiased) draw = engine();
  return draw % bound;
}

std::vector<std::size_t> shuffled(std::mt19937_64& engine, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[below(engine, left)]);
  }
  return order;
}

}  // namespace

std::vector<std::size_t> block_order(std::uint64_t seed, int block, std::size_t arms) {
  std::mt19937_64 engine(seed);
  std::vector<std::size_t> order;
  for (int i = 0; i <= block; ++i) order = shuffled(engine, arms);
  return order;
}

}  // namespace memduel
