#include "store.h"

#include <cstring>

namespace ledger {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

Store::Store() {
  reserve_buffer();
}

__attribute__((noinline)) void Store::reserve_buffer() {
  buffer_.reset(new char[kBufferBytes]());
}

std::size_t Store::add(const char* line) {
  const std::size_t length = std::strlen(line);
  if (used_ + length > kBufferBytes) used_ = 0;
  std::memcpy(buffer_.get() + used_, line, length);
  used_ += length;
  return used_;
}

}  // namespace ledger
