#include "profilers/meters/touched_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace memduel {
namespace {

// Documentation/admin-guide/mm/pagemap.rst of Linux: bits of a page's entry.
constexpr std::uint64_t kInMemory = std::uint64_t{1} << 63;
constexpr std::uint64_t kInSwap = std::uint64_t{1} << 62;
constexpr std::uint64_t kOfNoOther = std::uint64_t{1} << 56;

}  // namespace

TouchedPages::TouchedPages(pid_t pid)
    : descriptor_(
          ::open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC)) {}

TouchedPages::~TouchedPages() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::int64_t TouchedPages::bytes_in(std::uint64_t begin, std::uint64_t end, Count count) const {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  thread_local std::array<std::uint64_t, 8192> entries;
  std::int64_t pages = 0;
  std::uint64_t at = begin / page_bytes;
  const std::uint64_t last = end / page_bytes;
  while (descriptor_ >= 0 && at < last) {
    const std::size_t asked = std::min<std::size_t>(last - at, entries.size());
    const ssize_t got = ::pread(descriptor_, entries.data(), asked * sizeof entries[0],
                                static_cast<off_t>(at * sizeof entries[0]));
    if (got < static_cast<ssize_t>(sizeof entries[0])) break;
    const std::size_t read = static_cast<std::size_t>(got) / sizeof entries[0];
    for (std::size_t i = 0; i < read; ++i) {
      const bool touched = (entries[i] & (kInMemory | kInSwap)) != 0;
      const bool counts = count == Count::all || (entries[i] & kOfNoOther) != 0;
      pages += static_cast<std::int64_t>(touched && counts);
    }
    at += read;
  }
  return pages * static_cast<std::int64_t>(page_bytes);
}

}  // namespace memduel
