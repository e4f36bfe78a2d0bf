#include "profilers/meters/proc_text.h"

#include <algorithm>
#include <charconv>

namespace memduel {
namespace {

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  return value;
}

/// What follows the `count`-th space of `text`.
std::string_view after_spaces(std::string_view text, int count) {
  for (; count > 0; --count) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return {};
    text.remove_prefix(space + 1);
  }
  return text;
}

}  // namespace

std::optional<std::int64_t> resident_pages(std::string_view statm) {
  return leading_number(after_spaces(statm, 1));
}

std::optional<std::int64_t> sized_field(std::string_view text, std::string_view name) {
  constexpr std::int64_t kKib = 1024;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    const std::size_t digits = line.find_first_not_of(" \t");
    if (digits == std::string_view::npos || !line.ends_with(" kB")) return std::nullopt;
    const auto value = leading_number(line.substr(digits));
    if (!value || *value > INT64_MAX / kKib) return std::nullopt;
    return *value * kKib;
  }
  return std::nullopt;
}

std::optional<FaultCounts> fault_counts(std::string_view stat) {
  // The command name is field 2 and may hold anything, so count from its closing parenthesis.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::string_view from_state = stat.substr(name_end + 2);
  const auto minor = leading_number(after_spaces(from_state, 7));
  const auto major = leading_number(after_spaces(from_state, 9));
  if (!minor || !major) return std::nullopt;
  return FaultCounts{*minor, *major};
}

}  // namespace memduel
