#pragma once

#include <cstddef>
#include <memory>

namespace ledger {

/// Lines of a ledger, kept in one buffer.
class Store {
 public:
  Store();
  std::size_t add(const char* line);

 private:
  void reserve_buffer();

  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
};

}  // namespace ledger
