// Lines out of the bytes of a log, however they arrive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace memduel {

/// Cuts a byte stream into lines. A line ends at a newline or a carriage return, so that CRLF and
/// progress bars that rewrite their line are read too; empty lines are left out. Of a line longer
/// than kLongestLine only that much is kept.
class TextLines {
 public:
  static constexpr std::size_t kLongestLine = 64 * 1024;

  using Take = std::function<void(std::string_view line)>;

  void feed(std::string_view bytes, const Take& take);
  /// Nothing follows: what is left is a line.
  void finish(const Take& take);
  /// Forgets an unfinished line.
  void restart() { rest_.clear(); }

  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  void append(std::string_view piece);
  void end_line(std::string_view piece, const Take& take);

  std::string rest_;
  std::int64_t count_ = 0;
};

}  // namespace memduel
