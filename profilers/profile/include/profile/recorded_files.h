// The blocks of a profile file: finding, checking, unpacking and writing them. The grammar is in
// profilers/recorder/trace_format.h and docs/formats.md.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profilers/recorder/trace_format.h"

namespace memduel {

struct TraceBlock {
  recorder::BlockType type{};
  std::string bytes;  ///< unpacked
};

/// How much of a file could be read.
struct TraceReading {
  int blocks = 0;          ///< read
  int damaged = 0;         ///< skipped: checksum or compression
  bool truncated = false;  ///< ends inside a block
  std::size_t bytes = 0;   ///< of the whole file
  bool indexed = false;    ///< ends with an index: the file was finished
};

/// Whether these bytes, or a file's, begin as one.
bool is_trace(std::string_view bytes);
bool is_trace_file(const std::filesystem::path& file);

/// Calls `visit` for each whole block in order. Throws Error(io) naming `name` when the bytes are
/// not a profile at all, or one of another version.
TraceReading read_trace(std::string_view bytes, const std::string& name,
                        const std::function<void(const TraceBlock&)>& visit);

/// How many blocks of a type begin in these bytes, by their headers alone.
std::size_t count_blocks(std::string_view bytes, recorder::BlockType type);

/// Of several snapshots the last counts: it is of the highest peak.
class LastSnapshot {
 public:
  explicit LastSnapshot(std::string_view bytes)
      : left_(count_blocks(bytes, recorder::BlockType::snapshot)) {}

  /// Of each block of a snapshot in their order: whether it belongs to the last one.
  bool has(recorder::BlockType type) {
    const bool is_last = left_ == 1;
    if (type == recorder::BlockType::snapshot && left_ > 0) --left_;
    return is_last;
  }

 private:
  std::size_t left_;
};

/// Builds a finished file: header, packed blocks, index.
class TraceWriter {
 public:
  TraceWriter();
  void add(recorder::BlockType type, std::string_view plain);
  /// The whole file. Ends the writer.
  std::string finish();

 private:
  struct Entry {
    recorder::BlockType type;
    std::uint64_t offset;
    std::uint32_t plain_bytes;
  };
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> packer_;  ///< for all blocks
  std::string bytes_;
  std::vector<Entry> entries_;
};

/// Reads LEB128 numbers and texts; throws std::out_of_range at the end of the bytes.
class TraceCursor {
 public:
  explicit TraceCursor(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  std::uint8_t byte();
  std::uint64_t number();
  std::int64_t signed_number();
  std::string_view text();

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

void put_text(std::string& bytes, std::string_view text);

}  // namespace memduel
