// For tests: the bytes that a piece of code allocates, from malloc itself. The test program defines
// malloc and its relatives (malloc_counter.cpp), so tensors, strings and gRPC's slices all count.
#pragma once

#include <cstddef>

namespace memduel {

/// Usable bytes, of all threads, since construction.
class MallocCounter {
 public:
  MallocCounter();

  [[nodiscard]] std::size_t allocated() const;  ///< sum over all allocations
  [[nodiscard]] std::size_t peak() const;       ///< the most that was live at once, above the start
  [[nodiscard]] long long live() const;         ///< now, above the start

 private:
  std::size_t allocated_before_;
  long long live_before_;
};

}  // namespace memduel
