// Reads numbers and words off the front of a line: of the kernel's files, and of other tools'
// profiles.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memduel {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : whole_(text), rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t position() const { return whole_.size() - rest_.size(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  void skip_spaces() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }

  /// Whether `wanted` stood here; it is skipped then.
  bool skip(std::string_view wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }

  /// Digits only, and a minus if the type has a sign; absent, and nothing is skipped, where there
  /// are none or too many.
  template <class Number = std::uint64_t>
  std::optional<Number> number(int base = 10) {
    Number value{};
    const char* end = rest_.data() + rest_.size();
    const auto [after, error] = std::from_chars(rest_.data(), end, value, base);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(after - rest_.data()));
    return value;
  }

  /// Up to the next space or the end.
  std::string_view word() {
    const std::string_view found = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(found.size());
    return found;
  }

 private:
  std::string_view whole_;
  std::string_view rest_;
};

}  // namespace memduel
