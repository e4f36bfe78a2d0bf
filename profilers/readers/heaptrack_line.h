// A line of a heaptrack trace: a letter, then hexadecimal numbers and texts.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/varint.h"
#include "profilers/readers/plain_source.h"

namespace memduel {

/// What stands on a line behind its letter.
class HeaptrackLine {
 public:
  HeaptrackLine(const PlainSource& source, std::string_view line)
      : source_(source), line_(line), at_(std::min<std::size_t>(line.size(), 2)) {}

  [[nodiscard]] bool at_end() const { return at_ >= line_.size(); }
  [[nodiscard]] std::string_view rest() const { return line_.substr(at_); }

  std::uint64_t hex() {
    std::uint64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < line_.size() && line_[at_] != ' '; ++at_) {
      const int digit = kDigits[static_cast<unsigned char>(line_[at_])];
      if (digit < 0) fail("expected a hexadecimal number");
      value = (value << 4) | static_cast<std::uint64_t>(digit);
    }
    if (at_ == begin) fail("a number is missing");
    if (at_ - begin > 16) fail(kTooLongNumber);
    if (at_ < line_.size()) ++at_;
    return value;
  }

  /// Since version 3 with its size before it; before, up to the next space or the end of the line.
  std::string_view text(bool sized, bool to_end) {
    const std::uint64_t size = sized    ? hex()
                               : to_end ? line_.size() - at_
                                        : std::min(line_.find(' ', at_), line_.size()) - at_;
    if (size > line_.size() - at_) fail("a text is longer than its line");
    const std::string_view found = line_.substr(at_, size);
    at_ = std::min(at_ + size + 1, line_.size());
    return found;
  }

  [[noreturn]] void fail(const char* problem) const {
    source_.fail(fmt::format("line {}: {}", source_.line_number(), problem), at_);
  }

 private:
  static constexpr std::array<short, 256> kDigits = [] {
    std::array<short, 256> digits{};
    digits.fill(-1);
    for (int i = 0; i < 10; ++i) digits['0' + i] = static_cast<short>(i);
    for (int i = 0; i < 6; ++i) digits['a' + i] = static_cast<short>(10 + i);
    return digits;
  }();

  const PlainSource& source_;
  std::string_view line_;
  std::size_t at_;
};

}  // namespace memduel
