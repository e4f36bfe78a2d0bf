#include "page_records.h"

#include <fmt/format.h>

#include <stdexcept>

#include "checked_number.h"

namespace memduel {
namespace {

namespace pages = recorder::pages;

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

}  // namespace

void ResidentPages::take(const pages::Begin& record) {
  *this = {};
  time_ns = checked_number<std::int64_t>(record.time_ns, "time");
  round = checked_number<int>(record.round, "round");
  phase = record.phase;
  tells_blocks = record.tells_blocks != 0;
}

void ResidentPages::take(const pages::Mapping& record) {
  ResidentMapping mapping;
  mapping.at = page_range(record.first_page, record.pages);
  mapping.flags = checked_number<std::uint32_t>(record.flags, "flags");
  mapping.resident_bytes = record.resident_bytes;
  mapping.alone_bytes = record.alone_bytes;
  mapping.name = record.name;
  if (!mappings.empty() && mapping.at.begin < mappings.back().at.end)
    throw std::out_of_range("mappings out of order");
  mappings.push_back(std::move(mapping));
}

void ResidentPages::take(const pages::Pages& record) {
  if (mappings.empty()) throw std::out_of_range("pages before a mapping");
  ResidentMapping& mapping = mappings.back();
  const std::uint64_t last =
      (mapping.runs.empty() ? mapping.at.begin : mapping.runs.back().at.end) / kPageBytes;
  if (record.gap > kMostAddress / kPageBytes) throw std::out_of_range("impossible pages");
  const AddressRange at = page_range(last + record.gap, record.pages);
  if (at.end > mapping.at.end) throw std::out_of_range("pages beyond their mapping");
  mapping.runs.push_back({at, record.file != 0});
}

void ResidentPages::take(const pages::Own& record) {
  own.push_back(checked_range(record.address, record.bytes));
}

void ResidentPages::take(const pages::Allocator& record) {
  allocator.push_back(checked_range(record.address, record.bytes));
}

void ResidentPages::take(const pages::Arena& record) {
  arenas.push_back(checked_range(record.address, record.bytes));
}

void ResidentPages::take(const pages::Block& record) {
  checked_range(record.address, record.requested_bytes);
  blocks.push_back({record.node, record.requested_bytes,
                    checked_number<std::uint32_t>(record.extra_bytes, "extra"),
                    checked_number<int>(record.round, "round"), record.address});
}

void ResidentPages::take(const pages::End& record) {
  resident_bytes = record.resident_bytes;
  swapped_bytes = record.swapped_bytes;
  hugetlb_bytes = record.hugetlb_bytes;
  nanoseconds = record.nanoseconds;
  zeros_apart = record.zeros_apart != 0;
}

void ResidentPages::read(TraceCursor& cursor) {
  while (!cursor.at_end())
    cursor.take_record(pages::All(), [this](const auto& record) { take(record); });
}

}  // namespace memduel
