#include "workloads/graphs/can_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace memduel {
namespace {

constexpr std::size_t kMostShown = 40;

[[noreturn]] void refuse_found(std::string_view found, std::string_view expected) {
  const std::string shown(found.substr(0, kMostShown));
  throw BadCanLine{fmt::format("found \"{}{}\", expected {}", shown,
                               found.size() > kMostShown ? "..." : "", expected)};
}

/// The whole of `text` as a number; no sign.
template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failed != std::errc() || end != text.data() + text.size() || text.starts_with('-'))
    return std::nullopt;
  return number;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

void CanLine::skip_blanks() {
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
}

void CanLine::expect(std::string_view text) {
  if (!rest_.starts_with(text)) refuse_found(rest_, fmt::format("\"{}\"", text));
  rest_.remove_prefix(text.size());
}

std::string_view CanLine::until(char end) {
  const std::size_t at = std::min(rest_.find(end), rest_.size());
  const std::string_view taken = rest_.substr(0, at);
  rest_.remove_prefix(std::min(at + 1, rest_.size()));
  return taken;
}

std::string_view CanLine::word() {
  skip_blanks();
  const auto* const end = std::ranges::find_if(rest_, is_blank);
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  rest_.remove_prefix(taken.size());
  skip_blanks();
  return taken;
}

void CanLine::expect_end() const {
  if (!rest_.empty()) refuse_found(rest_, "the end of the line");
}

std::int64_t can_time_us(std::string_view text) {
  constexpr std::size_t kDecimals = 6;
  constexpr std::int64_t kMostSeconds = 99'999'999'999;  // the year 5138
  CanLine parts(text);
  const auto seconds = whole_number<std::int64_t>(parts.until('.'), 10);
  std::string decimals(parts.rest());
  const bool fits = decimals.size() <= kDecimals;
  decimals.resize(kDecimals, '0');
  const auto microseconds = whole_number<std::int64_t>(decimals, 10);
  if (!seconds || *seconds > kMostSeconds || !fits || !microseconds)
    refuse_found(text, "seconds with at most six decimals");
  return *seconds * 1'000'000 + *microseconds;
}

std::uint32_t can_id(std::string_view text) {
  const auto id = whole_number<std::uint32_t>(text, 16);
  if (!id || *id > kMostCanId)
    refuse_found(text, fmt::format("a hexadecimal identifier up to {:x}", kMostCanId));
  return *id;
}

std::uint8_t can_length(std::string_view text) {
  const auto length = whole_number<std::uint8_t>(text, 10);
  if (!length || *length > kMostCanBytes) refuse_found(text, "a length from 0 to 8");
  return *length;
}

std::uint8_t can_byte(std::string_view text) {
  const auto byte = whole_number<std::uint8_t>(text, 16);
  if (!byte || text.size() != 2) refuse_found(text, "two hexadecimal digits");
  return *byte;
}

}  // namespace memduel
