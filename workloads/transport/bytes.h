// A growing buffer without initialisation, as Python's BytesIO: it grows by an eighth, through
// realloc.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace memduel {

class Bytes {
 public:
  Bytes() = default;
  Bytes(Bytes&& other) noexcept;
  Bytes& operator=(Bytes&& other) noexcept;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() = default;

  static Bytes copy_of(std::string_view bytes);

  void append(std::string_view bytes);
  /// Adds `size` uninitialised bytes and returns where they begin.
  char* extend(std::size_t size);
  /// Makes room for exactly `capacity` bytes.
  void reserve(std::size_t capacity);

  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] char* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(char* data) const;
  };

  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

using SharedBytes = std::shared_ptr<Bytes>;

SharedBytes share(Bytes bytes);

}  // namespace memduel
