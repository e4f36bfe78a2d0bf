#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "fl/transport.h"

namespace memduel {

void Bytes::Free::operator()(char* data) const {
  std::free(data);
}

Bytes::Bytes(Bytes&& other) noexcept
    : data_(std::move(other.data_)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

Bytes Bytes::copy_of(std::string_view bytes) {
  Bytes copy;
  copy.reserve(bytes.size());
  copy.append(bytes);
  return copy;
}

void Bytes::reserve(std::size_t capacity) {
  if (capacity <= capacity_) return;
  void* grown = std::realloc(data_.get(), capacity);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(static_cast<char*>(grown));
  capacity_ = capacity;
}

char* Bytes::extend(std::size_t size) {
  if (size_ + size > capacity_) reserve(size_ == 0 ? size : size_ + size + (size_ + size) / 8);
  char* const begin = data_.get() + size_;
  size_ += size;
  return begin;
}

void Bytes::append(std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
}

SharedBytes share(Bytes bytes) {
  return std::make_shared<Bytes>(std::move(bytes));
}

}  // namespace memduel
