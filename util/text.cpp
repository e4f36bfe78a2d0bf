#include "util/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace memduel {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

}  // namespace

std::size_t character_length(std::string_view text, std::size_t i) {
  const auto at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = at(i);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || i + length > text.size()) return 0;
  if (at(i + 1) < low || at(i + 1) > high) return 0;
  for (std::size_t k = 2; k < length; ++k)
    if (!is_continuation(at(i + k))) return 0;
  return length;
}

std::uint32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  std::uint32_t value = first & (0x7Fu >> character.size());
  for (std::size_t k = 1; k < character.size(); ++k)
    value = (value << 6) | (static_cast<unsigned char>(character[k]) & 0x3Fu);
  return value;
}

bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F);
}

bool changes_direction(std::uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::string escape_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character, std::uint32_t c) {
    if (is_control(c))
      out += ' ';
    else if (!changes_direction(c))
      out += character;
  });
  return out;
}

std::string escape_terminal_lines(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    escaped += escape_terminal(text.substr(0, end));
    if (end == std::string_view::npos) break;
    escaped += '\n';
    text.remove_prefix(end + 1);
  }
  return escaped;
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return !is_continuation(static_cast<unsigned char>(c)); }));
}

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};

struct SecondUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<SecondUnit, 4> kSecondUnits = {
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

}  // namespace

std::optional<double> byte_unit(std::string_view name) {
  constexpr std::array kDecimal = {"B", "kB", "MB", "GB", "TB"};
  double bytes = 1;
  for (const char* unit : kUnits) {
    if (name == unit) return bytes;
    bytes *= 1024;
  }
  bytes = 1;
  for (const char* unit : kDecimal) {
    if (name == unit) return bytes;
    bytes *= 1000;
  }
  return std::nullopt;
}

std::optional<double> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto factor = unit.empty() ? std::optional(1.0) : byte_unit(unit);
  if (!factor) return std::nullopt;
  return number * *factor;
}

std::string format_bytes(double bytes) {
  // What would be rounded up to 1024 of a unit is one of the next.
  constexpr double kMostBytes = 1023.5;
  constexpr double kMostOfUnit = 1023.95;
  constexpr double kMostWithTwoDigits = 9.995;
  double value = bytes;
  size_t unit = 0;
  while (std::abs(value) >= (unit == 0 ? kMostBytes : kMostOfUnit) && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  // Rounded first: a hair below zero is 0 B, not -0 B.
  if (unit == 0) return fmt::format("{:.0f} B", std::round(value) + 0.0);
  return fmt::format("{:.{}f} {}", value, std::abs(value) < kMostWithTwoDigits ? 2 : 1,
                     kUnits[unit]);
}

std::string format_bytes_with_interval(double bytes, double half_width) {
  if (half_width < 0.5) return format_bytes(bytes);
  const std::string larger = format_bytes(std::max(std::abs(bytes), half_width));
  const std::size_t space = larger.find(' ');
  const std::string unit = larger.substr(space + 1);
  const std::size_t point = larger.find('.');
  const std::size_t digits = point == std::string::npos ? 0 : space - point - 1;
  const double size = byte_unit(unit).value_or(1);
  return fmt::format("{:.{}f} ± {:.{}f} {}", bytes / size, digits, half_width / size, digits, unit);
}

std::string format_seconds(double seconds) {
  // What would be rounded up to 1000 of a unit, or to two minutes, is of the next.
  const double size = std::abs(seconds);
  if (size < 0.99995e-6 && seconds != 0) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (size < 0.9995e-4 && seconds != 0) return fmt::format("{:.1f} us", seconds * 1e6);
  if (size < 0.99995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (size < 119.95) return fmt::format("{:.1f} s", seconds);
  const long whole = std::lround(seconds);
  if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_metric(std::string_view metric, std::optional<double> value) {
  if (!value) return "-";
  if (metric.ends_with("_bytes_per_round")) return format_bytes(*value) + "/round";
  if (metric.ends_with("_bytes_per_minute")) return format_bytes(*value) + "/min";
  if (metric.ends_with("_bytes")) return format_bytes(*value);
  if (metric.ends_with("_seconds")) return format_seconds(*value);
  if (metric.ends_with("_count")) return fmt::format("{:.0f}", *value);
  return fmt::format("{:.4g}", *value);
}

std::string format_metric_like(std::string_view metric, double value, double reference) {
  constexpr double kLeastShown = 0.01;
  const std::string like = format_metric(metric, reference);
  const std::string unit = like.substr(like.find(' ') + 1);
  const auto second = std::ranges::find(kSecondUnits, unit, &SecondUnit::name);
  const double size = metric.ends_with("_seconds")
                          ? (second == kSecondUnits.end() ? 0 : second->seconds)
                          : byte_unit(unit).value_or(0);
  const double shown = size == 0 ? 0 : std::abs(value / size);
  if (unit == "B" || shown < kLeastShown) {
    const std::string own = format_metric(metric, value);
    return own.substr(0, own.find('/'));
  }
  return fmt::format("{:.{}f} {}", value / size, shown < 0.9995 ? 3 : shown < 9.995 ? 2 : 1, unit);
}

std::string format_count(std::size_t n, std::string_view noun, std::string_view plural) {
  if (n == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", n, noun) : fmt::format("{} {}", n, plural);
}

std::string format_estimated_count(double n, std::string_view noun, std::string_view plural) {
  const std::string rounded = fmt::format("{:.0f}", n);
  if (rounded == "1") return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", rounded, noun)
                        : fmt::format("{} {}", rounded, plural);
}

std::string format_multiple(double ratio) {
  constexpr double kWhole = 99.95;
  return fmt::format("{:.{}f}", ratio, ratio < kWhole ? 1 : 0);
}

std::string format_change(double ratio) {
  if (ratio >= kTimes) return format_multiple(ratio) + " times";
  const double percent = (ratio - 1) * 100;
  return fmt::format("{:+.{}f}%", percent, std::abs(percent) < 0.995 ? 2 : 1);
}

std::string format_percent(double share) {
  const double percent = share * 100;
  const double size = std::abs(percent);
  return fmt::format("{:.{}f}%", percent, size >= 9.95 ? 0 : size >= 0.995 ? 1 : 2);
}

std::string format_share(double share) {
  const double percent = 100 * share;
  constexpr double kFourDigits = 999.5;
  constexpr double kLeastWithoutExponent = 1e-4;
  if (std::abs(percent) >= kFourDigits) return fmt::format("{:.0f}%", percent);
  if (percent == 0 || std::abs(percent) >= kLeastWithoutExponent)
    return fmt::format("{:.3g}%", percent);
  std::string text = fmt::format("{:.20f}", percent);
  const std::size_t first = text.find_first_of("123456789");
  if (first == std::string::npos) return "0%";
  text.resize(std::min(text.size(), first + 3));
  text.resize(text.find_last_not_of('0') + 1);
  return text + "%";
}

std::string format_size(std::string_view metric, double share, std::optional<double> baseline) {
  return share >= 1 && baseline ? format_metric(metric, share * *baseline) : format_share(share);
}

std::string format_interval(const std::string& low, const std::string& high) {
  return low == high ? low : low + " to " + high;
}

std::string valid_utf8(const std::string& text) {
  constexpr unsigned char kFirstOfSeveral = 0x80;
  if (std::ranges::all_of(text, [](unsigned char byte) { return byte < kFirstOfSeveral; }))
    return text;
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character, std::uint32_t) { out += character; });
  return out;
}

std::string file_name_for(std::string name) {
  for (char& byte : name) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '/' || code < 0x20 || code == 0x7f) byte = '-';
  }
  if (name.starts_with('.')) name.front() = '-';
  return name;
}

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  constexpr size_t kShortestStart = 4;  // "peak" begins a name, "a" begins many
  const size_t limit = std::max<size_t>(2, word.size() / 3);
  std::optional<std::string> best;
  size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    // Of a pair such as "q" and "x" nothing is alike.
    const bool half_alike = 2 * distance <= std::max(word.size(), candidate.size());
    if (distance < best_distance && half_alike) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (best || word.size() < kShortestStart) return best;
  for (const std::string& candidate : candidates)
    if (candidate.starts_with(std::string(word) + "_") &&
        (!best || candidate.size() < best->size()))
      best = candidate;
  const auto starts = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (!best && std::ranges::count_if(candidates, starts) == 1)
    best = *std::ranges::find_if(candidates, starts);
  return best;
}

std::string not_whole_number(std::string_view found, std::int64_t least, std::int64_t most) {
  return fmt::format("expected a whole number from {} to {}, found {}", least, most, found);
}

std::string not_above_zero(std::string_view found) {
  return fmt::format("expected a number above 0, found {}", found);
}

std::string nearest_advice(std::string_view word, const std::vector<std::string>& candidates,
                           const std::string& otherwise) {
  const auto nearest = nearest_name(word, candidates);
  return nearest ? fmt::format("did you mean \"{}\"?", *nearest) : otherwise;
}

}  // namespace memduel
