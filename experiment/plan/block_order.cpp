#include "experiment/plan/block_order.h"

#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "analysis/values/random.h"

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

void shuffle(std::mt19937_64& engine, std::vector<std::size_t>& order) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[below(engine, left)]);
  }
}

enum class Use : std::uint64_t { block = 0, superblock = 1 };

/// An engine of its own for each number, so that no order depends on how many came before.
std::mt19937_64 engine_for(std::uint64_t seed, int number, Use use) {
  const std::uint64_t place =
      2 * static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(use);
  return std::mt19937_64(Random(Random(seed).next() + place).next());
}

}  // namespace

std::vector<std::size_t> block_order(std::uint64_t seed, int number, std::size_t arms) {
  std::mt19937_64 engine = engine_for(seed, number, Use::block);
  std::vector<std::size_t> order(arms);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(engine, order);
  return order;
}

std::vector<std::size_t> superblock_order(std::uint64_t seed, int number, std::size_t arms) {
  std::mt19937_64 engine = engine_for(seed, number, Use::superblock);
  std::vector<std::size_t> order(2 * arms);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % arms;
  shuffle(engine, order);
  return order;
}

}  // namespace memduel
