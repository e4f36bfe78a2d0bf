// Which graphs an epoch learns from: few and easy normal ones beside the attacks at first, more and
// harder ones towards the end.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/datasets/partition.h"

namespace memduel {

class Curriculum {
 public:
  /// @param scores difficulty of each of `normals`.
  Curriculum(Indices normals, std::vector<float> scores, Indices attacks)
      : normals_(std::move(normals)), scores_(std::move(scores)), attacks_(std::move(attacks)) {}

  /// All attacks, and of the normal graphs the first that are at least as hard as a percentile of
  /// all (75th at the beginning, 95th at the end): as many as there are attacks at the beginning,
  /// ten times as many at the end. In an order of the seed. @param epoch from 0, of `epochs`.
  [[nodiscard]] Indices graphs_of(int epoch, int epochs, std::uint64_t seed) const;

 private:
  [[nodiscard]] Indices hard_normals(double percentile) const;

  Indices normals_;
  std::vector<float> scores_;
  Indices attacks_;
};

/// The same graphs in an order of the seed.
Indices shuffled(const Indices& graphs, std::uint64_t seed);

}  // namespace memduel
