#include "graph_file_writer.h"

#include <unistd.h>

#include <bit>
#include <cerrno>

namespace memduel {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is the memory's");

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

template <class Number>
std::string_view bytes_in(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

/// Counts what goes to the file, for the parts' alignment.
class PartWriter {
 public:
  explicit PartWriter(AtomicFile& file) : file_(file) {}

  /// Zeros up to where the next part begins.
  void begin_at(std::uint64_t offset) { write(std::string(offset - written_, '\0')); }
  void write(std::string_view bytes) {
    file_.write(bytes);
    written_ += bytes.size();
  }
  void move(SpooledPart& part, std::uint64_t bytes) {
    part.move_to(file_);
    written_ += bytes;
  }

 private:
  AtomicFile& file_;
  std::uint64_t written_ = 0;
};

}  // namespace

SpooledPart::SpooledPart(const std::filesystem::path& directory)
    : directory_(directory.empty() ? "." : directory), descriptor_(unnamed_file(directory_)) {
  if (!descriptor_) fail_at(directory_, "make a temporary file");
}

void SpooledPart::append(const void* bytes, std::size_t size) {
  buffer_.append(static_cast<const char*>(bytes), size);
  if (buffer_.size() >= kBufferBytes) flush();
}

void SpooledPart::flush() {
  if (!write_all(descriptor_.get(), buffer_)) fail_at(directory_, "write a temporary file");
  buffer_.clear();
}

void SpooledPart::move_to(AtomicFile& file) {
  flush();
  std::string piece(kBufferBytes, '\0');
  for (off_t at = 0;;) {
    const ssize_t size = ::pread(descriptor_.get(), piece.data(), piece.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail_at(directory_, "read a temporary file");
    if (size == 0) break;
    file.write({piece.data(), static_cast<std::size_t>(size)});
    at += size;
  }
  descriptor_.reset();
}

GraphFileWriter::GraphFileWriter(const std::filesystem::path& path, std::size_t identifiers)
    : file_(path),
      first_nodes_{0},
      first_edges_{0},
      node_features_(path.parent_path()),
      edge_index_(path.parent_path()),
      edge_features_(path.parent_path()) {
  header_.identifiers = static_cast<std::uint32_t>(identifiers);
}

void GraphFileWriter::add(const GraphView& graph) {
  first_nodes_.push_back(first_nodes_.back() + graph.nodes());
  first_edges_.push_back(first_edges_.back() + graph.edges());
  labels_.push_back(graph.label);
  node_features_.append(graph.node_features.data(), graph.node_features.size_bytes());
  edge_index_.append(graph.edge_index.data(), graph.edge_index.size_bytes());
  edge_features_.append(graph.edge_features.data(), graph.edge_features.size_bytes());
}

void GraphFileWriter::finish() {
  header_.graphs = labels_.size();
  header_.nodes = first_nodes_.back();
  header_.edges = first_edges_.back();
  const GraphParts parts = parts_of(header_);
  header_.file_bytes = parts.end;
  PartWriter writer(file_);
  writer.write({reinterpret_cast<const char*>(&header_), sizeof(header_)});
  writer.begin_at(parts.first_nodes);
  writer.write(bytes_in(first_nodes_));
  writer.begin_at(parts.first_edges);
  writer.write(bytes_in(first_edges_));
  writer.begin_at(parts.labels);
  writer.write(bytes_in(labels_));
  writer.begin_at(parts.node_features);
  writer.move(node_features_, header_.nodes * header_.node_features * sizeof(float));
  writer.begin_at(parts.edge_index);
  writer.move(edge_index_, header_.edges * 2 * sizeof(std::int64_t));
  writer.begin_at(parts.edge_features);
  writer.move(edge_features_, header_.edges * header_.edge_features * sizeof(float));
  writer.begin_at(parts.end);
  file_.finish();
}

}  // namespace memduel
