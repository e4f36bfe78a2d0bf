#include "base/characters.h"

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

}  // namespace memduel
