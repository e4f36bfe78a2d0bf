// A line of a bus recording, taken apart from its front.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workloads/graphs/can_frame.h"

namespace memduel {

/// What a line should have had; the caller knows its file and number.
struct BadCanLine {
  std::string what;
};

/// Every function takes what it names from the front, or throws BadCanLine.
class CanLine {
 public:
  explicit CanLine(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  void skip_blanks();
  void expect(std::string_view text);
  /// What comes before `end`, which is taken too; all that is left where `end` does not come.
  std::string_view until(char end);
  /// Up to the next blank; blanks around it are taken too.
  std::string_view word();
  void expect_end() const;

 private:
  std::string_view rest_;
};

/// Seconds with at most six decimals, in microseconds.
std::int64_t can_time_us(std::string_view text);
/// Hexadecimal digits, at most kMostCanId.
std::uint32_t can_id(std::string_view text);
/// A frame's length, 0 to 8.
std::uint8_t can_length(std::string_view text);
/// Two hexadecimal digits.
std::uint8_t can_byte(std::string_view text);

}  // namespace memduel
