#include "page_records.h"

#include <fmt/format.h>

#include <stdexcept>

#include "checked_number.h"

namespace memduel {
namespace {

using recorder::PageRecord;

constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 57U;

AddressRange checked_range(std::uint64_t begin, std::uint64_t bytes) {
  if (begin > kMostAddress || bytes > kMostAddress) throw std::out_of_range("an impossible range");
  return {begin, begin + bytes};
}

AddressRange page_range(std::uint64_t first, std::uint64_t pages) {
  if (first > kMostAddress / kPageBytes || pages > kMostAddress / kPageBytes)
    throw std::out_of_range("impossible pages");
  return {first * kPageBytes, (first + pages) * kPageBytes};
}

AddressRange read_range(TraceCursor& cursor) {
  const std::uint64_t begin = cursor.number();
  return checked_range(begin, cursor.number());
}

}  // namespace

void ResidentPages::read_mapping(TraceCursor& cursor) {
  ResidentMapping mapping;
  const std::uint64_t first = cursor.number();
  mapping.at = page_range(first, cursor.number());
  mapping.flags = checked_number<std::uint32_t>(cursor.number(), "flags");
  mapping.resident_bytes = cursor.number();
  mapping.alone_bytes = cursor.number();
  mapping.name = cursor.text();
  if (!mappings.empty() && mapping.at.begin < mappings.back().at.end)
    throw std::out_of_range("mappings out of order");
  mappings.push_back(std::move(mapping));
}

void ResidentPages::read_run(TraceCursor& cursor) {
  if (mappings.empty()) throw std::out_of_range("pages before a mapping");
  ResidentMapping& mapping = mappings.back();
  const std::uint64_t last =
      (mapping.runs.empty() ? mapping.at.begin : mapping.runs.back().at.end) / kPageBytes;
  const std::uint64_t gap = cursor.number();
  if (gap > kMostAddress / kPageBytes) throw std::out_of_range("impossible pages");
  const AddressRange at = page_range(last + gap, cursor.number());
  if (at.end > mapping.at.end) throw std::out_of_range("pages beyond their mapping");
  mapping.runs.push_back({at, cursor.number() != 0});
}

void ResidentPages::read_told_block(TraceCursor& cursor) {
  ToldBlock block;
  block.node = cursor.number();
  block.size = cursor.number();
  block.extra = checked_number<std::uint32_t>(cursor.number(), "extra");
  block.round = checked_number<int>(cursor.number(), "round");
  block.address = cursor.number();
  checked_range(block.address, block.size);
  blocks.push_back(block);
}

void ResidentPages::read(TraceCursor& cursor) {
  while (!cursor.at_end()) {
    const std::uint8_t kind = cursor.byte();
    switch (static_cast<PageRecord>(kind)) {
      case PageRecord::begin:
        *this = {};
        time_ns = checked_number<std::int64_t>(cursor.number(), "time");
        round = checked_number<int>(cursor.number(), "round");
        phase = cursor.text();
        tells_blocks = cursor.number() != 0;
        continue;
      case PageRecord::mapping:
        read_mapping(cursor);
        continue;
      case PageRecord::pages:
        read_run(cursor);
        continue;
      case PageRecord::stack:
        stacks.push_back(cursor.number());
        continue;
      case PageRecord::own:
        own.push_back(read_range(cursor));
        continue;
      case PageRecord::allocator:
        allocator.push_back(read_range(cursor));
        continue;
      case PageRecord::arena:
        arenas.push_back(read_range(cursor));
        continue;
      case PageRecord::block:
        read_told_block(cursor);
        continue;
      case PageRecord::end:
        resident_bytes = cursor.number();
        swapped_bytes = cursor.number();
        hugetlb_bytes = cursor.number();
        nanoseconds = cursor.number();
        zeros_apart = cursor.number() != 0;
        continue;
    }
    throw std::out_of_range(fmt::format("unknown kind {}", kind));
  }
}

}  // namespace memduel
