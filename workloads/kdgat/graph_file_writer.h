// Writes a file of graphs, one graph at a time, in memory that does not grow with the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kdgat/graph_file.h"
#include "util/file.h"

namespace memduel {

/// Bytes of a part, in an unlinked file until it is known where in the whole they belong.
class SpooledPart {
 public:
  explicit SpooledPart(const std::filesystem::path& directory);

  void append(const void* bytes, std::size_t size);
  /// Writes all of it to `file`.
  void move_to(AtomicFile& file);

 private:
  void flush();

  std::filesystem::path directory_;
  Descriptor descriptor_;
  std::string buffer_;
};

/// Every function throws Error(io). The parts wait beside `path`, which so needs room for the file
/// twice.
class GraphFileWriter {
 public:
  GraphFileWriter(const std::filesystem::path& path, std::size_t identifiers);

  void add(const GraphView& graph);
  /// After this the file is there, whole.
  void finish();

 private:
  AtomicFile file_;
  GraphHeader header_;
  std::vector<std::uint64_t> first_nodes_;
  std::vector<std::uint64_t> first_edges_;
  std::vector<std::int64_t> labels_;
  SpooledPart node_features_;
  SpooledPart edge_index_;
  SpooledPart edge_features_;
};

}  // namespace memduel
