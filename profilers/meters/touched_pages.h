// How much of a process's address ranges holds memory, from /proc/PID/pagemap.
//
// 9 ms for a GiB, whatever is touched of it. The file needs the permission that smaps needs: the
// same user, or root.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace memduel {

class TouchedPages {
 public:
  enum class Count {
    all,  ///< pages in memory or in swap
    own   ///< of these, what no other process has: a forked child's copies and new pages
  };

  explicit TouchedPages(pid_t pid);
  ~TouchedPages();
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  /// Bytes of [begin, end); 0 when the process is gone or may not be read.
  [[nodiscard]] std::int64_t bytes_in(std::uint64_t begin, std::uint64_t end, Count count) const;

 private:
  int descriptor_;
};

}  // namespace memduel
