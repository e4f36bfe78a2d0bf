// What a training learns from, and when: the graphs of a file that train and validate, the
// curriculum from easy to hard ones, and how batches of heavy graphs are made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/partition.h"
#include "data/random.h"
#include "kdgat/graph_file.h"

namespace memduel {

struct TrainingGraphs {
  Indices normals;  ///< to train on, without an attack
  Indices attacks;  ///< to train on, with one
  Indices validation;
};

/// Four fifths are to train on, in an order of the seed. Throws Error(usage) naming `file` where
/// one of the three is empty.
TrainingGraphs split_graphs(const GraphStore& store, std::uint64_t seed,
                            const std::filesystem::path& file);

// Which graphs an epoch learns from: few and easy normal ones beside the attacks at first, more and
// harder ones towards the end.

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

// Batches that say what a training on graphs takes at most. Graphs differ in size, so batches of as
// many graphs do; what a training must have memory for is the largest that it will meet.

/// Of the batches that a step is tried with, each is the heaviest of so many.
inline constexpr std::size_t kTriedDraws = 1000;

/// Nodes and edges of the graph that is the mean of these.
struct MeanGraph {
  double nodes = 0;
  double edges = 0;
};
MeanGraph mean_graph(const GraphStore& store, const Indices& graphs);

/// Of two populations that with the larger graphs, by nodes and edges of the mean.
Indices heavier(const GraphStore& store, Indices a, Indices b);

class HeavyBatches {
 public:
  /// @param graphs that batches are drawn from, at least one.
  HeavyBatches(const GraphStore& store, Indices graphs, std::uint64_t seed);

  /// Of `draws` random batches that with the most nodes and edges. A batch has no graph twice;
  /// where `count` exceeds the graphs, it has each as often as that fills it and draws the rest.
  Indices heaviest(std::size_t count, std::size_t draws);

  /// The same of as many batches as an epoch has, at least one.
  Indices heaviest_of_epoch(std::size_t count);

 private:
  Indices graphs_;
  std::vector<std::size_t> sizes_;  ///< of each, nodes and edges
  Indices order_;                   ///< 0 … graphs - 1, as the last draw left it
  RandomEngine engine_;
};

}  // namespace memduel
