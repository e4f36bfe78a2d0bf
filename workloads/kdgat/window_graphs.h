// Bus traffic as graphs, one for each window of a number of frames, as KD-GAT makes them
// (src/preprocessing/preprocessing.py at 11 node and 11 edge features).
//
// A row is a frame and the identifier of the next one, so that the last frame has none. A graph's
// nodes are the identifiers in its rows in ascending order, its edges the distinct pairs
// (identifier, next identifier) in ascending order; W is the number of rows in a window, positions
// are 0 to W-1.
//
// node: 0 the identifier's index; 1-8 mean of each byte / 255; 9 number of its rows, scaled so that
//   the least is 0 and the most 1 (unscaled where all are equal); 10 its last position / (W-1).
//   An identifier that is only the last row's next one has zeros in 1-8 and 10.
// edge: 0 count; 1 count / W; 2 mean and 3 standard deviation of the distances between its
//   positions; 4 1 / (1 + that deviation); 5 first and 6 last position / W; 7 their difference;
//   8 whether the edge in the other direction is there; 9 product and 10 ratio of the degrees of
//   its source and its target, where a degree counts every row's two ends. 2-4 are 0 for an edge
//   that occurs once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "can_frame.h"
#include "kdgat/graph_file.h"
#include "synthetic_traffic.h"

namespace memduel {

/// Identifiers as indices 0, 1, … in ascending order; all that are not known share the last index.
class IdMap {
 public:
  /// In any order, with repetitions.
  explicit IdMap(std::vector<std::uint32_t> ids);
  static IdMap of(std::span<const CanFrame> frames);

  [[nodiscard]] std::int64_t index(std::uint32_t id) const;
  /// With the index of the unknown.
  [[nodiscard]] std::size_t size() const { return ids_.size() + 1; }

 private:
  std::vector<std::uint32_t> ids_;
};

/// Both at least 1.
struct Windows {
  std::size_t rows = 100;
  std::size_t stride = 100;
};

/// Hands over the graph of every whole window, in order; of traffic with fewer rows than a window,
/// the graph of those; of fewer than two frames, none.
void for_each_graph(std::span<const CanFrame> frames, const IdMap& ids, const Windows& windows,
                    const std::function<void(const Graph&)>& use);

// A file of graphs from a recording of a car's bus.

/// The recording as it is, then once more under each of `attacks`. Identifiers are known when a
/// frame that is no attack has them; all others share the index of the unknown. Throws Error(io).
void write_recorded_graphs(const std::filesystem::path& path, const std::vector<CanFrame>& frames,
                           const std::vector<Attack>& attacks, std::uint64_t seed);

}  // namespace memduel
