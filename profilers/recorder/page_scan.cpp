#include "page_scan.h"

#include "system.h"

namespace memduel::recorder {

namespace {

// As of Linux 6.7's uapi/linux/fs.h, which the headers here may not have yet.
struct ScanArguments {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t regions;
  std::uint64_t region_count;
  std::uint64_t most_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};
static_assert(sizeof(ScanArguments) == 96);

struct Region {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};

constexpr std::uint64_t kFile = 1U << 2U;
constexpr std::uint64_t kPresent = 1U << 3U;
constexpr std::uint64_t kZeros = 1U << 5U;
constexpr unsigned long kScan = 0xc0606610;  // _IOWR('f', 16, ScanArguments)

constexpr std::size_t kRegions = 4096;
Region regions[kRegions];

constexpr std::size_t kEntries = 8192;
std::uint64_t entries[kEntries];
constexpr std::uint64_t kEntryPresent = std::uint64_t{1} << 63U;
constexpr std::uint64_t kEntrySwapped = std::uint64_t{1} << 62U;
constexpr std::uint64_t kEntryFile = std::uint64_t{1} << 61U;

}  // namespace

bool scan_pages(long descriptor, std::uintptr_t begin, std::uintptr_t end, VisitPages visit) {
  while (begin < end) {
    ScanArguments arguments{};
    arguments.size = sizeof arguments;
    arguments.start = begin;
    arguments.end = end;
    arguments.regions = reinterpret_cast<std::uint64_t>(regions);
    arguments.region_count = kRegions;
    arguments.category_inverted = kZeros;  // present, and not of zeros
    arguments.category_mask = kPresent | kZeros;
    arguments.return_mask = kFile;
    const long found = raw_syscall(SYS_ioctl, descriptor, static_cast<long>(kScan),
                                   reinterpret_cast<long>(&arguments));
    if (found < 0) {
      scan_page_entries(descriptor, begin, end, visit);
      return false;
    }
    for (long i = 0; i < found; ++i) {
      const Region& region = regions[i];
      visit(region.start / kPageBytes, (region.end - region.start) / kPageBytes,
            (region.categories & kFile) != 0);
    }
    // Where the walk stopped may lie before the end of what it found last.
    const std::uint64_t seen = found > 0 ? regions[found - 1].end : 0;
    const std::uint64_t next = arguments.walk_end > seen ? arguments.walk_end : seen;
    if (next <= begin) return true;
    begin = next;
  }
  return true;
}

void scan_page_entries(long descriptor, std::uintptr_t begin, std::uintptr_t end,
                       VisitPages visit) {
  std::uintptr_t page = begin / kPageBytes;
  const std::uintptr_t last = end / kPageBytes;
  while (page < last) {
    const std::uintptr_t wanted = last - page < kEntries ? last - page : kEntries;
    const long got = raw_syscall(SYS_pread64, descriptor, reinterpret_cast<long>(entries),
                                 static_cast<long>(wanted * sizeof entries[0]),
                                 static_cast<long>(page * sizeof entries[0]));
    const std::uintptr_t count = got > 0 ? static_cast<std::uintptr_t>(got) / sizeof entries[0] : 0;
    if (count == 0) return;
    for (std::uintptr_t i = 0; i < count;) {
      constexpr std::uint64_t kSame = kEntryPresent | kEntryFile;
      const std::uint64_t kind = entries[i] & kSame;
      std::uintptr_t next = i + 1;
      while (next < count && (entries[next] & kSame) == kind) ++next;
      if ((kind & kEntryPresent) != 0) visit(page + i, next - i, (kind & kEntryFile) != 0);
      i = next;
    }
    page += count;
  }
}

bool was_touched(long descriptor, std::uintptr_t at) {
  std::uint64_t entry = 0;
  const long got = raw_syscall(SYS_pread64, descriptor, reinterpret_cast<long>(&entry),
                               static_cast<long>(sizeof entry),
                               static_cast<long>(at / kPageBytes * sizeof entry));
  return got == sizeof entry && (entry & (kEntryPresent | kEntrySwapped)) != 0;
}

}  // namespace memduel::recorder
