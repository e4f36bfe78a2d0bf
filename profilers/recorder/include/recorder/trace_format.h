// The profile file, as the recorder writes it and profilers/profile/ reads it;
// docs/formats.md has the grammar with a worked example.
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

enum class BlockType : std::uint32_t {
  info = 1,      ///< lines of `key value`
  events = 2,    ///< see Event
  symbols = 3,   ///< frames by address, added after the run
  index = 4,     ///< last block: where the others are
  pages = 5,     ///< see PageRecord; a snapshot's, which goes on in the next block
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

/// An events block starts with counters and holds one event after the other: a byte from here and
/// its operands. Numbers are LEB128; signed ones are zigzag. Addresses are differences to the last
/// address of the block, in units of 8 bytes. Text is its length and its bytes.
enum class Event : std::uint8_t {
  counters = 1,  ///< time_ns, next node, signed live, peak, allocated, allocations, signed mapping,
                 ///< mapping peak, lost, threads
  module = 2,    ///< begin, end, bias, text build id (raw), text path: from now on at [begin, end)
  node = 3,    ///< parent node, signed difference of the address to the last node's: a native frame
  code = 4,    ///< text qualified name, text file: a Python code object; numbered from 0
  python = 5,  ///< parent node, code, line: a Python frame
  thread = 6,  ///< thread: whose events follow
  allocation = 7,     ///< node, requested bytes, signed (block - requested bytes), signed address
  free = 8,           ///< signed address
  revive = 9,         ///< signed address: the thread's last free did not happen (a realloc failed)
  mapping = 10,       ///< node, bytes, signed address
  unmapping = 11,     ///< bytes, signed address: may cover parts of mappings
  mark = 12,          ///< time_ns, kind of annotate.h, signed round, text phase
  thread_phase = 13,  ///< text phase, of the running thread
  interval = 14,      ///< bytes: mean from which the draws of the following samples came
  touched = 15,  ///< touched bytes, bytes, signed address: of a part of a mapping, as the kernel
                 ///< has it now. Since version 2
};

/// What a snapshot's blocks hold: a byte from here and its operands, one record after the other.
/// Pages are of 4096 bytes; addresses are absolute.
enum class PageRecord : std::uint8_t {
  begin = 1,    ///< time_ns, round, text phase, 1 where block records tell what is live, else the
                ///< events before do
  mapping = 2,  ///< first page, pages, flags (MappingFlag), resident bytes, of these
                ///< mapped by no other process, text name
  pages =
      3,  ///< of the last mapping: pages left out since the last run, pages, 1 where file-backed
  stack = 4,      ///< address near the top of a thread's stack
  own = 5,        ///< address, bytes: the recorder's
  allocator = 6,  ///< address, bytes: mapped by the allocator
  block = 8,      ///< a live one: node, requested bytes, extra bytes, round, address
  arena = 9,      ///< address, bytes: of one of glibc's further arenas
  end = 7,  ///< resident bytes by smaps_rollup, swapped bytes, bytes in huge pages of hugetlbfs,
            ///< nanoseconds that it took, 1 where the kernel tells pages of zeros apart
};

enum MappingFlag : std::uint32_t { kMappingWritable = 1, kMappingShared = 2 };

inline constexpr std::uint32_t kRootNode = 0;  ///< nodes are numbered from 1

/// CRC-32C of `bytes`, continued from `crc` (start with 0).
std::uint32_t crc32c(const void* bytes, std::size_t count, std::uint32_t crc = 0);

/// The checksum that belongs into `header.crc32c`.
inline std::uint32_t block_checksum(const BlockHeader& header, const void* stored) {
  return crc32c(stored, header.stored_bytes, crc32c(&header, offsetof(BlockHeader, crc32c)));
}

}  // namespace memduel::recorder
