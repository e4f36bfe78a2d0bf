#include "kdgat/graph_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "data/file_lengths.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

// So that no size below can overflow: 2^40 edges are 16 TiB of edge_index.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
/// An identifier is kept as a float, which has every whole number up to here.
constexpr std::uint64_t kMostIdentifiers = std::uint64_t{1} << 24;
/// Those that no node of the file need have: a bus's 2,048 without extension, and the unknown.
constexpr std::uint64_t kUnseenIdentifiers = 2049;

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kGraphAlignment - 1) / kGraphAlignment * kGraphAlignment;
}

bool all_finite(std::span<const float> numbers) {
  // By exponents and without an early end, so that the compiler makes vectors of it.
  constexpr std::uint32_t kExponent = 0x7f80'0000;
  std::uint32_t others = 0;
  for (const float number : numbers)
    others += (std::bit_cast<std::uint32_t>(number) & kExponent) == kExponent ? 1 : 0;
  return others == 0;
}

/// Of a graph: its number, and where its nodes and edges begin among all.
struct GraphPlace {
  std::uint64_t graph = 0;
  std::uint64_t first_node = 0;
  std::uint64_t first_edge = 0;
};

/// An open file and its size.
class GraphFile {
 public:
  explicit GraphFile(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!descriptor_) fail_at(path_, "open");
    struct stat facts{};
    if (::fstat(descriptor_.get(), &facts) != 0) fail_at(path_, "inspect it");
    if (!S_ISREG(facts.st_mode)) refuse(0, "expected a regular file with graphs");
    bytes_ = static_cast<std::uint64_t>(facts.st_size);
    read_header();
  }

  [[nodiscard]] const GraphHeader& header() const { return header_; }
  [[nodiscard]] const GraphParts& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[noreturn]] void refuse(std::uint64_t offset, const std::string& what) const {
    throw Error(ExitCode::io, fmt::format("byte {}: {}", offset, what), path_.string(),
                "each run recreates its graph file before the next trial");
  }

  template <class Number>
  std::vector<Number> read(std::uint64_t offset, std::uint64_t count) const {
    std::vector<Number> numbers(count);
    read_bytes(numbers.data(), offset, count * sizeof(Number));
    return numbers;
  }

  /// "offsets" of a part: from 0, never less than the one before, to `end`.
  void expect_offsets(const std::uint64_t* offsets, std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t i = 0; i <= header_.graphs; ++i) {
      const std::uint64_t least = i == 0 ? 0 : offsets[i - 1];
      const std::uint64_t most = i == 0 ? 0 : end;
      if (offsets[i] < least || offsets[i] > most || (i == header_.graphs && offsets[i] != end))
        refuse(begin + i * sizeof(std::uint64_t),
               fmt::format("expected an offset from {} to {}, found {}",
                           i == header_.graphs ? end : least, most, offsets[i]));
    }
  }

  /// `view` once all that a training counts on is known of it.
  [[nodiscard]] GraphView checked(const GraphView& view, const GraphPlace& place) const {
    if (view.label != 0 && view.label != 1)
      refuse(parts_.labels + place.graph * sizeof(std::int64_t),
             fmt::format("expected label 0 or 1, found {}", view.label));
    const std::uint64_t node_features =
        parts_.node_features + place.first_node * kNodeFeatures * sizeof(float);
    expect_identifiers(view.node_features, node_features);
    expect_finite(view.node_features, node_features);
    expect_ends(view, parts_.edge_index + place.first_edge * 2 * sizeof(std::int64_t));
    expect_finite(view.edge_features,
                  parts_.edge_features + place.first_edge * kEdgeFeatures * sizeof(float));
    return view;
  }

 private:
  void expect_identifiers(std::span<const float> features, std::uint64_t begin) const {
    const auto count = static_cast<float>(header_.identifiers);
    for (std::size_t i = 0; i < features.size(); i += kNodeFeatures) {
      const float found = features[i];
      const bool known = found >= 0 && found < count;  // false for NaN
      if (!known || static_cast<float>(static_cast<std::int32_t>(found)) != found)
        refuse(begin + i * sizeof(float),
               fmt::format("expected a whole number from 0 to {} as identifier, found {}",
                           std::int64_t{header_.identifiers} - 1, found));
    }
  }

  void expect_finite(std::span<const float> features, std::uint64_t begin) const {
    if (all_finite(features)) return;
    const auto found =
        std::ranges::find_if_not(features, [](float feature) { return std::isfinite(feature); });
    refuse(begin + static_cast<std::uint64_t>(found - features.begin()) * sizeof(float),
           fmt::format("expected a finite number as feature, found {}", *found));
  }

  void expect_ends(const GraphView& view, std::uint64_t begin) const {
    const auto nodes = static_cast<std::int64_t>(view.nodes());
    for (std::size_t i = 0; i < view.edge_index.size(); ++i) {
      const std::int64_t node = view.edge_index[i];
      if (node < 0 || node >= nodes)
        refuse(begin + i * sizeof(std::int64_t),
               fmt::format("expected a node from 0 to {}, found {}", nodes - 1, node));
    }
  }

  void read_bytes(void* to, std::uint64_t offset, std::uint64_t size) const {
    char* at = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t got = ::pread(descriptor_.get(), at, size, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_at(path_, "read");
      if (got == 0) refuse(offset, "the file was cut off while it was read");
      at += got;
      offset += static_cast<std::uint64_t>(got);
      size -= static_cast<std::uint64_t>(got);
    }
  }

  void read_header() {
    if (bytes_ < sizeof(GraphHeader))
      refuse(bytes_, ends_within_header(bytes_, sizeof(GraphHeader)));
    read_bytes(&header_, 0, sizeof(GraphHeader));
    if (header_.magic != kGraphMagic)
      refuse(0, "not a graph file: expected \"mdgraphs\", found other bytes");
    expect_number(8, "version", header_.version, kGraphVersion);
    expect_number(12, "a node feature count of", header_.node_features, kNodeFeatures);
    expect_number(16, "an edge feature count of", header_.edge_features, kEdgeFeatures);
    expect_at_most(24, "graphs", header_.graphs, kMostElements);
    expect_at_most(32, "nodes", header_.nodes, kMostElements);
    expect_at_most(40, "edges", header_.edges, kMostElements);
    expect_at_most(20, "identifiers", header_.identifiers,
                   std::min(kMostIdentifiers, header_.nodes + kUnseenIdentifiers));
    parts_ = parts_of(header_);
    expect_number(48, "a file size in bytes of", header_.file_bytes, parts_.end);
    if (bytes_ != parts_.end)
      refuse(std::min(bytes_, parts_.end), not_of_header(bytes_, parts_.end));
  }

  void expect_number(std::uint64_t offset, const char* what, std::uint64_t found,
                     std::uint64_t expected) const {
    if (found != expected)
      refuse(offset, fmt::format("expected {} {}, found {}", what, expected, found));
  }

  void expect_at_most(std::uint64_t offset, const char* what, std::uint64_t found,
                      std::uint64_t most) const {
    if (found > most)
      refuse(offset, fmt::format("expected at most {} {}, found {}", most, what, found));
  }

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t bytes_ = 0;
  GraphHeader header_;
  GraphParts parts_;
};

class LoadedGraphs final : public GraphStore {
 public:
  explicit LoadedGraphs(const GraphFile& file) : identifiers_(file.header().identifiers) {
    const GraphHeader& header = file.header();
    const GraphParts& parts = file.parts();
    const auto nodes = file.read<std::uint64_t>(parts.first_nodes, header.graphs + 1);
    const auto edges = file.read<std::uint64_t>(parts.first_edges, header.graphs + 1);
    file.expect_offsets(nodes.data(), parts.first_nodes, header.nodes);
    file.expect_offsets(edges.data(), parts.first_edges, header.edges);
    const auto labels = file.read<std::int64_t>(parts.labels, header.graphs);
    graphs_.reserve(header.graphs);
    for (std::size_t i = 0; i < header.graphs; ++i) {
      const std::uint64_t node_count = nodes[i + 1] - nodes[i];
      const std::uint64_t edge_count = edges[i + 1] - edges[i];
      Graph graph;
      graph.node_features =
          file.read<float>(parts.node_features + nodes[i] * kNodeFeatures * sizeof(float),
                           node_count * kNodeFeatures);
      graph.edge_index = file.read<std::int64_t>(
          parts.edge_index + edges[i] * 2 * sizeof(std::int64_t), 2 * edge_count);
      graph.edge_features =
          file.read<float>(parts.edge_features + edges[i] * kEdgeFeatures * sizeof(float),
                           edge_count * kEdgeFeatures);
      graph.label = labels[i];
      (void)file.checked(graph.view(), {i, nodes[i], edges[i]});
      graphs_.push_back(std::move(graph));
    }
  }

  [[nodiscard]] std::size_t size() const override { return graphs_.size(); }
  [[nodiscard]] GraphView graph(std::size_t index) const override { return graphs_[index].view(); }
  [[nodiscard]] std::size_t identifiers() const override { return identifiers_; }
  [[nodiscard]] std::span<const std::byte> mapping() const override { return {}; }

 private:
  std::size_t identifiers_;
  std::vector<Graph> graphs_;
};

class MappedGraphs final : public GraphStore {
 public:
  explicit MappedGraphs(GraphFile file)
      : file_(std::move(file)),
        bytes_(::mmap(nullptr, file_.bytes(), PROT_READ, MAP_SHARED, file_.descriptor(), 0)) {
    if (bytes_ == MAP_FAILED) fail_at(file_.path(), "map");
    const GraphHeader& header = file_.header();
    const GraphParts& parts = file_.parts();
    try {
      file_.expect_offsets(at<std::uint64_t>(parts.first_nodes), parts.first_nodes, header.nodes);
      file_.expect_offsets(at<std::uint64_t>(parts.first_edges), parts.first_edges, header.edges);
    } catch (...) {
      ::munmap(bytes_, file_.bytes());
      throw;
    }
    // Graphs are asked for in shuffled order. Where memory is short, what the kernel reads ahead
    // takes the place of what is still needed: an epoch in half of the file took 70 times as long.
    ::madvise(bytes_, file_.bytes(), MADV_RANDOM);
  }
  MappedGraphs(const MappedGraphs&) = delete;
  MappedGraphs& operator=(const MappedGraphs&) = delete;
  ~MappedGraphs() override { ::munmap(bytes_, file_.bytes()); }

  [[nodiscard]] std::size_t size() const override { return file_.header().graphs; }
  [[nodiscard]] std::size_t identifiers() const override { return file_.header().identifiers; }
  [[nodiscard]] std::span<const std::byte> mapping() const override {
    return {static_cast<const std::byte*>(bytes_), file_.bytes()};
  }

  [[nodiscard]] GraphView graph(std::size_t index) const override {
    const GraphParts& parts = file_.parts();
    const auto* const nodes = at<std::uint64_t>(parts.first_nodes) + index;
    const auto* const edges = at<std::uint64_t>(parts.first_edges) + index;
    const std::uint64_t node_count = nodes[1] - nodes[0];
    const std::uint64_t edge_count = edges[1] - edges[0];
    return file_.checked(
        {{at<float>(parts.node_features) + nodes[0] * kNodeFeatures, node_count * kNodeFeatures},
         {at<std::int64_t>(parts.edge_index) + edges[0] * 2, edge_count * 2},
         {at<float>(parts.edge_features) + edges[0] * kEdgeFeatures, edge_count * kEdgeFeatures},
         at<std::int64_t>(parts.labels)[index]},
        {index, nodes[0], edges[0]});
  }

 private:
  template <class Number>
  const Number* at(std::uint64_t offset) const {
    return reinterpret_cast<const Number*>(static_cast<const char*>(bytes_) + offset);
  }

  GraphFile file_;
  void* bytes_;
};

}  // namespace

GraphParts parts_of(const GraphHeader& header) {
  GraphParts parts;
  parts.first_nodes = sizeof(GraphHeader);
  parts.first_edges = aligned(parts.first_nodes + (header.graphs + 1) * sizeof(std::uint64_t));
  parts.labels = aligned(parts.first_edges + (header.graphs + 1) * sizeof(std::uint64_t));
  parts.node_features = aligned(parts.labels + header.graphs * sizeof(std::int64_t));
  parts.edge_index =
      aligned(parts.node_features + header.nodes * header.node_features * sizeof(float));
  parts.edge_features = aligned(parts.edge_index + header.edges * 2 * sizeof(std::int64_t));
  parts.end = aligned(parts.edge_features + header.edges * header.edge_features * sizeof(float));
  return parts;
}

std::unique_ptr<GraphStore> open_graphs(const std::filesystem::path& path, GraphLoading loading) {
  GraphFile file(path);
  if (loading == GraphLoading::mmap) return std::make_unique<MappedGraphs>(std::move(file));
  return std::make_unique<LoadedGraphs>(file);
}

BusErrorLine::BusErrorLine(std::span<const std::byte> mapping, std::string line)
    : mapping_(mapping), line_(std::move(line) + "\n") {
  current = this;
  struct sigaction action{};
  action.sa_sigaction = &BusErrorLine::say;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, &before_);
}

BusErrorLine::~BusErrorLine() {
  ::sigaction(SIGBUS, &before_, nullptr);
  current = nullptr;
}

/// Calls only what a signal handler may.
void BusErrorLine::say(int signal, siginfo_t* info, void* /*context*/) {
  const std::less_equal<const void*> not_after;
  const std::byte* const begin = current->mapping_.data();
  if (info->si_code == BUS_ADRERR && not_after(begin, info->si_addr) &&
      !not_after(begin + current->mapping_.size(), info->si_addr)) {
    static_cast<void>(!::write(STDERR_FILENO, current->line_.data(), current->line_.size()));
    ::_exit(static_cast<int>(ExitCode::io));
  }
  ::sigaction(SIGBUS, &current->before_, nullptr);
  ::raise(signal);  // comes once this returns
}

}  // namespace memduel
