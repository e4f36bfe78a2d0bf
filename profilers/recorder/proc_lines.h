// Reads a file of /proc line by line, without allocating.
#pragma once

#include <fcntl.h>

#include <cstring>

#include "system.h"

namespace memduel::recorder {

/// Opens for reading; negative: it cannot be.
inline long open_proc(const char* path) {
  return raw_syscall(SYS_open, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
}

class ProcLines {
 public:
  /// `buffer` must hold the longest line twice.
  ProcLines(const char* path, char* buffer, std::size_t size)
      : descriptor_(open_proc(path)), buffer_(buffer), size_(size) {}
  ~ProcLines() {
    if (descriptor_ >= 0) raw_syscall(SYS_close, descriptor_);
  }
  ProcLines(const ProcLines&) = delete;
  ProcLines& operator=(const ProcLines&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  /// The next line with a zero in the place of its end; nullptr: no more.
  char* next() {
    for (;;) {
      char* line = buffer_ + begin_;
      char* end = static_cast<char*>(memchr(line, '\n', filled_ - begin_));
      if (end != nullptr) {
        *end = '\0';
        begin_ = static_cast<std::size_t>(end - buffer_) + 1;
        return line;
      }
      memmove(buffer_, line, filled_ - begin_);
      filled_ -= begin_;
      begin_ = 0;
      const long got = raw_syscall(SYS_read, descriptor_, reinterpret_cast<long>(buffer_ + filled_),
                                   static_cast<long>(size_ - filled_));
      if (got <= 0) return nullptr;
      filled_ += static_cast<std::size_t>(got);
    }
  }

 private:
  long descriptor_;
  char* buffer_;
  std::size_t size_;
  std::size_t begin_ = 0;
  std::size_t filled_ = 0;
};

inline const char* skip_spaces(const char* at) {
  while (*at == ' ' || *at == '\t') ++at;
  return at;
}

/// Reads a number and moves behind it.
inline std::uint64_t read_decimal(const char*& at) {
  std::uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  return value;
}

inline std::uint64_t read_hexadecimal(const char*& at) {
  std::uint64_t value = 0;
  for (;; ++at) {
    if (*at >= '0' && *at <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(*at - '0');
    } else if (*at >= 'a' && *at <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(*at - 'a' + 10);
    } else {
      return value;
    }
  }
}

/// Of a line `Name:   123 kB`, when it begins with `name`: adds the bytes to `sum`.
inline bool add_kilobytes(const char* line, const char* name, std::uint64_t& sum) {
  const std::size_t length = strlen(name);
  if (strncmp(line, name, length) != 0) return false;
  const char* at = skip_spaces(line + length);
  sum += read_decimal(at) * 1024;
  return true;
}

/// Bytes of the first line of /proc/self/status that begins with `name`, a number of kB. `buffer`
/// is that of ProcLines; a user may be in many groups, which are one line.
inline std::uint64_t status_bytes(const char* name, char* buffer, std::size_t size) {
  ProcLines status("/proc/self/status", buffer, size);
  std::uint64_t bytes = 0;
  while (status.is_open()) {
    const char* line = status.next();
    if (line == nullptr || add_kilobytes(line, name, bytes)) break;
  }
  return bytes;
}

}  // namespace memduel::recorder
