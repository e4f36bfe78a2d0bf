// The profile file and its blocks, as the recorder and profilers/profile/ write them and
// profilers/profile/ reads them; trace_records.h describes what blocks of events and pages contain,
// and docs/formats.md has the grammar with a worked example.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memduel::recorder {

inline constexpr char kTraceMagic[8] = {'M', 'D', 'P', 'R', 'O', 'F', '\r', '\n'};
inline constexpr std::uint32_t kTraceVersion = 2;
inline constexpr std::uint32_t kOldestTraceVersion = 1;  ///< that is read: without what 2 has

struct TraceHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
};
static_assert(sizeof(TraceHeader) == 16);

/// Of a file that is written now.
constexpr TraceHeader trace_header() {
  TraceHeader header{};
  for (unsigned i = 0; i < sizeof header.magic; ++i) header.magic[i] = kTraceMagic[i];
  header.version = kTraceVersion;
  return header;
}

enum class BlockType : std::uint32_t {
  info = 1,      ///< lines of `key value`
  events = 2,    ///< see trace_records.h
  symbols = 3,   ///< frames by address, added after the run
  index = 4,     ///< last block: where the others are
  pages = 5,     ///< see trace_records.h; a snapshot's, which goes on in the next block
  snapshot = 6,  ///< the same, and its last: it is of this place among the events
  fork = 7,      ///< of a forked process: mapping and pages records of its private memory as it
                 ///< was at the fork; the next block may continue them
};

inline constexpr std::uint32_t kZstd = 1;  ///< BlockHeader::flags: stored with zstd

struct BlockHeader {
  BlockType type;  ///< a reader skips types it does not know
  std::uint32_t flags;
  std::uint32_t stored_bytes;
  std::uint32_t plain_bytes;
  std::uint32_t crc32c;  ///< of the fields before it and the stored bytes
};
static_assert(sizeof(BlockHeader) == 20);

/// The block that is being filled. A recorder maps the file `<image>.block` over it, shared, so
/// that what a process recorded outlives it, however it ends.
struct alignas(4096) RunningBlock {
  static constexpr std::size_t kFull = 64 * 1024;
  static constexpr std::uint64_t kNone = UINT64_MAX;  ///< `used` while no block is begun
  /// The longest text of an event; longer ones are cut. An event has at most two.
  static constexpr std::size_t kMostText = 4096;

  BlockHeader header;  ///< `type` from its beginning, the rest once it is full
  unsigned char bytes[kFull + 3 * kMostText];
  std::uint64_t used;    ///< of `bytes`, by whole records
  std::uint64_t offset;  ///< of the profile file, where the block goes
  std::uint64_t last_address;
  std::uint64_t interval;  ///< as the block has stated it; 0: not yet
};

/// CRC-32C of `bytes`, continued from `crc` (start with 0).
std::uint32_t crc32c(const void* bytes, std::size_t count, std::uint32_t crc = 0);

/// The checksum that belongs into `header.crc32c`.
inline std::uint32_t block_checksum(const BlockHeader& header, const void* stored) {
  return crc32c(stored, header.stored_bytes, crc32c(&header, offsetof(BlockHeader, crc32c)));
}

}  // namespace memduel::recorder
