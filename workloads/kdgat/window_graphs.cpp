// Bus traffic as graphs, and files of graphs from generated traffic and from a recording.

#include "window_graphs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "graph_file_writer.h"
#include "kdgat/graph_file.h"
#include "synthetic_traffic.h"

namespace memduel {
namespace {

/// Where a pair of identifiers follow each other.
struct Pair {
  std::int64_t source = 0;
  std::int64_t target = 0;
  std::vector<std::size_t> positions;  ///< ascending
};

struct Node {
  std::int64_t id = 0;
  std::size_t degree = 0;
  std::size_t rows = 0;
  std::size_t last_position = 0;
  std::array<double, kMostCanBytes> byte_sums{};
};

/// Rows of one window: frames and what comes next to each.
class WindowGraph {
 public:
  WindowGraph(std::span<const CanFrame> frames, const IdMap& ids)
      : frames_(frames), rows_(frames.size() - 1) {
    for (const CanFrame& frame : frames) ids_.push_back(ids.index(frame.id));
    find_nodes();
    find_pairs();
  }

  [[nodiscard]] Graph graph() const {
    Graph graph;
    add_nodes(graph);
    for (const Pair& pair : pairs_) graph.edge_index.push_back(node_at(pair.source));
    for (const Pair& pair : pairs_) graph.edge_index.push_back(node_at(pair.target));
    for (const Pair& pair : pairs_) add_edge(pair, graph);
    graph.label = std::any_of(frames_.begin(), frames_.end() - 1,
                              [](const CanFrame& frame) { return frame.attack; });
    return graph;
  }

 private:
  void find_nodes() {
    std::vector<std::int64_t> ids = ids_;
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const std::int64_t id : ids) nodes_.push_back({id});
    for (std::size_t row = 0; row < rows_; ++row) {
      Node& node = nodes_[static_cast<std::size_t>(node_at(ids_[row]))];
      ++node.degree;
      ++node.rows;
      node.last_position = row;
      for (std::size_t i = 0; i < kMostCanBytes; ++i)
        node.byte_sums[i] += frames_[row].bytes[i] / 255.0;
      ++nodes_[static_cast<std::size_t>(node_at(ids_[row + 1]))].degree;
    }
  }

  void find_pairs() {
    std::vector<std::size_t> order(rows_);
    for (std::size_t row = 0; row < rows_; ++row) order[row] = row;
    const auto key = [&](std::size_t row) { return std::pair(ids_[row], ids_[row + 1]); };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (const std::size_t row : order) {
      const auto [source, target] = key(row);
      if (pairs_.empty() || pairs_.back().source != source || pairs_.back().target != target)
        pairs_.push_back({source, target, {}});
      pairs_.back().positions.push_back(row);
    }
  }

  [[nodiscard]] std::int64_t node_at(std::int64_t id) const {
    const auto at = std::ranges::lower_bound(nodes_, id, {}, &Node::id);
    return at - nodes_.begin();
  }

  [[nodiscard]] bool has_pair(std::int64_t source, std::int64_t target) const {
    const auto at = std::ranges::lower_bound(
        pairs_, std::pair(source, target), {},
        [](const Pair& pair) { return std::pair(pair.source, pair.target); });
    return at != pairs_.end() && at->source == source && at->target == target;
  }

  void add_nodes(Graph& graph) const {
    const auto [least, most] = std::ranges::minmax_element(nodes_, {}, &Node::rows);
    const auto from = static_cast<float>(least->rows);
    const float range = static_cast<float>(most->rows) - from;
    const double last = static_cast<double>(std::max<std::size_t>(rows_ - 1, 1));
    for (const Node& node : nodes_) {
      const auto rows = static_cast<float>(node.rows);
      std::array<float, kNodeFeatures> features{static_cast<float>(node.id)};
      for (std::size_t i = 0; i < kMostCanBytes && node.rows > 0; ++i)
        features[1 + i] = static_cast<float>(node.byte_sums[i] / static_cast<double>(node.rows));
      features[9] = range > 0 ? (rows - from) / range : rows;
      features[10] = static_cast<float>(static_cast<double>(node.last_position) / last);
      graph.node_features.insert(graph.node_features.end(), features.begin(), features.end());
    }
  }

  void add_edge(const Pair& pair, Graph& graph) const {
    const auto rows = static_cast<double>(rows_);
    const auto count = static_cast<double>(pair.positions.size());
    const double first = static_cast<double>(pair.positions.front()) / rows;
    const double last = static_cast<double>(pair.positions.back()) / rows;
    const auto source =
        static_cast<double>(nodes_[static_cast<std::size_t>(node_at(pair.source))].degree);
    const auto target =
        static_cast<double>(nodes_[static_cast<std::size_t>(node_at(pair.target))].degree);
    const double mean = mean_distance(pair);
    const double deviation = deviation_of_distances(pair, mean);
    const std::array<double, kEdgeFeatures> features{count,
                                                     count / rows,
                                                     mean,
                                                     deviation,
                                                     count > 1 ? 1 / (1 + deviation) : 0,
                                                     first,
                                                     last,
                                                     last - first,
                                                     has_pair(pair.target, pair.source) ? 1.0 : 0.0,
                                                     source * target,
                                                     source / target};
    for (const double feature : features)
      graph.edge_features.push_back(static_cast<float>(feature));
  }

  static double mean_distance(const Pair& pair) {
    const std::size_t distances = pair.positions.size() - 1;
    if (distances == 0) return 0;
    return static_cast<double>(pair.positions.back() - pair.positions.front()) /
           static_cast<double>(distances);
  }

  static double deviation_of_distances(const Pair& pair, double mean) {
    const std::size_t distances = pair.positions.size() - 1;
    if (distances == 0) return 0;
    double squares = 0;
    for (std::size_t i = 0; i < distances; ++i) {
      const double off = static_cast<double>(pair.positions[i + 1] - pair.positions[i]) - mean;
      squares += off * off;
    }
    return std::sqrt(squares / static_cast<double>(distances));
  }

  std::span<const CanFrame> frames_;
  std::size_t rows_;
  std::vector<std::int64_t> ids_;
  std::vector<Node> nodes_;
  std::vector<Pair> pairs_;
};

}  // namespace

IdMap::IdMap(std::vector<std::uint32_t> ids) : ids_(std::move(ids)) {
  std::ranges::sort(ids_);
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
}

IdMap IdMap::of(std::span<const CanFrame> frames) {
  std::vector<std::uint32_t> ids;
  for (const CanFrame& frame : frames) ids.push_back(frame.id);
  return IdMap(std::move(ids));
}

std::int64_t IdMap::index(std::uint32_t id) const {
  const auto at = std::ranges::lower_bound(ids_, id);
  return at != ids_.end() && *at == id ? at - ids_.begin() : static_cast<std::int64_t>(ids_.size());
}

void for_each_graph(std::span<const CanFrame> frames, const IdMap& ids, const Windows& windows,
                    const std::function<void(const Graph&)>& use) {
  if (frames.size() < 2) return;
  const std::size_t rows = std::min(windows.rows, frames.size() - 1);
  for (std::size_t start = 0; start + rows < frames.size(); start += windows.stride)
    use(WindowGraph(frames.subspan(start, rows + 1), ids).graph());
}

namespace {

constexpr std::size_t kStretchFrames = 100'001;
constexpr std::array<Attack, 3> kAttacks = {Attack::dos, Attack::fuzzy, Attack::spoofing};

}  // namespace

void write_generated_graphs(const std::filesystem::path& path, std::size_t count,
                            std::uint64_t seed) {
  const IdMap ids(generated_ids());
  GraphFileWriter writer(path, ids.size());
  std::size_t written = 0;
  std::int64_t start_us = 0;
  for (std::size_t stretch = 0; written < count; ++stretch) {
    std::vector<CanFrame> frames = generate_traffic(kStretchFrames, start_us, seed + stretch);
    start_us = frames.back().time_us;
    if (stretch % 2 == 1)
      frames = inject(frames, kAttacks[stretch / 2 % kAttacks.size()], seed + stretch);
    for_each_graph(frames, ids, {}, [&](const Graph& graph) {
      if (written == count) return;
      writer.add(graph.view());
      ++written;
    });
  }
  writer.finish();
}

void write_recorded_graphs(const std::filesystem::path& path, const std::vector<CanFrame>& frames,
                           const std::vector<Attack>& attacks, std::uint64_t seed) {
  std::vector<std::uint32_t> known;
  for (const CanFrame& frame : frames)
    if (!frame.attack) known.push_back(frame.id);
  const IdMap ids(std::move(known));
  GraphFileWriter writer(path, ids.size());
  const auto add = [&](const Graph& graph) { writer.add(graph.view()); };
  for_each_graph(frames, ids, {}, add);
  for (std::size_t i = 0; i < attacks.size(); ++i)
    for_each_graph(inject(frames, attacks[i], seed + i), ids, {}, add);
  writer.finish();
}

}  // namespace memduel
