// Graphs of bus traffic, where a window of frames is a graph (identifiers are nodes, "followed by"
// is an edge): the file that holds many of them, the errors of traffic that is none, generated
// graphs.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace memduel {

inline constexpr std::size_t kNodeFeatures = 11;
inline constexpr std::size_t kEdgeFeatures = 11;

/// What a training reads of a graph; it lies elsewhere.
struct GraphView {
  std::span<const float> node_features;      ///< [nodes, kNodeFeatures]
  std::span<const std::int64_t> edge_index;  ///< [2, edges]: sources, then targets
  std::span<const float> edge_features;      ///< [edges, kEdgeFeatures]
  std::int64_t label = 0;                    ///< 1 when a frame of the window was injected

  [[nodiscard]] std::size_t nodes() const { return node_features.size() / kNodeFeatures; }
  [[nodiscard]] std::size_t edges() const { return edge_index.size() / 2; }
};

/// The same with its own memory.
struct Graph {
  std::vector<float> node_features;
  std::vector<std::int64_t> edge_index;
  std::vector<float> edge_features;
  std::int64_t label = 0;

  [[nodiscard]] GraphView view() const { return {node_features, edge_index, edge_features, label}; }
};

// Many graphs in one file, to be mapped: the tensors of all graphs one behind the other, and where
// each graph's begin (docs/formats.md).
//
//   header (64 bytes, little-endian): "mdgraphs", u32 version, u32 node features, u32 edge
//   features,
//     u32 identifiers, u64 graphs, u64 nodes, u64 edges, u64 bytes of the file, u64 0
//   u64 first node of each graph, and the number of all      [graphs + 1]
//   u64 first edge of each graph, and the number of all      [graphs + 1]
//   i64 labels                                               [graphs]
//   f32 node features                                        [nodes, node features]
//   i64 ends of edges, numbered within their graph           [2, edges of the graph], graph by
//   graph f32 edge features                                        [edges, edge features]
//
// Each part begins at a multiple of 64 bytes; what is between is 0.

inline constexpr std::array<char, 8> kGraphMagic = {'m', 'd', 'g', 'r', 'a', 'p', 'h', 's'};
inline constexpr std::uint32_t kGraphVersion = 1;
inline constexpr std::size_t kGraphAlignment = 64;

struct GraphHeader {
  std::array<char, 8> magic = kGraphMagic;
  std::uint32_t version = kGraphVersion;
  std::uint32_t node_features = kNodeFeatures;
  std::uint32_t edge_features = kEdgeFeatures;
  std::uint32_t identifiers = 0;  ///< with the index of the unknown
  std::uint64_t graphs = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(GraphHeader) == kGraphAlignment);

/// Where the parts begin, in bytes from the beginning of the file.
struct GraphParts {
  std::uint64_t first_nodes = 0;
  std::uint64_t first_edges = 0;
  std::uint64_t labels = 0;
  std::uint64_t node_features = 0;
  std::uint64_t edge_index = 0;
  std::uint64_t edge_features = 0;
  std::uint64_t end = 0;
};

GraphParts parts_of(const GraphHeader& header);

enum class GraphLoading {
  read_all,  ///< every graph in memory of its own
  mmap,      ///< views into the mapped file, without copies
};

/// The graphs of a file. Views are valid as long as this is.
class GraphStore {
 public:
  GraphStore() = default;
  GraphStore(const GraphStore&) = delete;
  GraphStore& operator=(const GraphStore&) = delete;
  virtual ~GraphStore() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Throws Error(io) when an edge's end is no node of the graph, a node's first feature no
  /// identifier, another feature not finite, or the label neither 0 nor 1: found when it is looked
  /// at, so that opening does not read the whole file.
  [[nodiscard]] virtual GraphView graph(std::size_t index) const = 0;
  /// With the index of the unknown.
  [[nodiscard]] virtual std::size_t identifiers() const = 0;
  /// The file's bytes where it is mapped, else none.
  [[nodiscard]] virtual std::span<const std::byte> mapping() const = 0;
};

/// Throws Error(io) that names the file, the byte, what was found and what was expected, when it is
/// no such file, is cut off, has more identifiers than its nodes can have, or its offsets do not
/// lie in it. The file may be replaced meanwhile (as GraphFileWriter does), but must not be
/// shortened: a mapping then ends in SIGBUS, to which BusErrorLine gives words.
std::unique_ptr<GraphStore> open_graphs(const std::filesystem::path& path, GraphLoading loading);

// What a process says that reads of a mapped file what is no longer there.

/// While it lives, SIGBUS for an address in the mapping ends the process with a line on standard
/// error and status ExitCode::io; any other has the effect that it had before. One at a time, for
/// signals are the process's.
class BusErrorLine {
 public:
  BusErrorLine(std::span<const std::byte> mapping, std::string line);
  BusErrorLine(const BusErrorLine&) = delete;
  BusErrorLine& operator=(const BusErrorLine&) = delete;
  ~BusErrorLine();

 private:
  static void say(int signal, siginfo_t* info, void* context);

  static inline const BusErrorLine* current = nullptr;

  std::span<const std::byte> mapping_;
  std::string line_;
  struct sigaction before_{};
};

// A file of as many graphs as wanted, from generated traffic.

/// Stretches of 73 s without attack take turns with stretches under DoS, fuzzy and spoofing
/// attacks. Injected identifiers share the index of the unknown. In memory of a few MB, however
/// many graphs. Throws Error(io).
void write_generated_graphs(const std::filesystem::path& path, std::size_t count,
                            std::uint64_t seed);

}  // namespace memduel
