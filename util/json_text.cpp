#include "util/json_text.h"

#include <charconv>

namespace memduel {
namespace {

/// Whether its bytes need no escapes and are valid UTF-8.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace

void JsonText::add_line() {
  if (indent_ < 0) return;
  text_ += '\n';
  text_.append(depth_, ' ');
}

void JsonText::open(char bracket) {
  text_ += bracket;
  depth_ += static_cast<std::size_t>(std::max(indent_, 0));
  is_empty_ = true;
}

void JsonText::close(char bracket) {
  depth_ -= static_cast<std::size_t>(std::max(indent_, 0));
  if (!is_empty_) add_line();
  text_ += bracket;
  is_empty_ = false;
}

void JsonText::next_item() {
  if (!is_empty_) text_ += ',';
  is_empty_ = false;
  add_line();
}

void JsonText::add_key(std::string_view name) {
  next_item();
  add_string(name);
  text_ += indent_ < 0 ? ":" : ": ";
}

void JsonText::add_string(std::string_view value) {
  if (is_plain(value)) {
    text_ += '"';
    text_ += value;
    text_ += '"';
  } else {
    text_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

void JsonText::add_number(double value) {
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  // Of several shortest texts of a number, the one that nlohmann's dump() chooses.
  std::array<char, 64> digits{};
  char* const begin = digits.data();
  text_.append(begin, nlohmann::detail::to_chars(begin, begin + digits.size(), value));
}

void JsonText::add_integer(long long value) {
  std::array<char, 32> digits{};
  char* const begin = digits.data();
  text_.append(begin, std::to_chars(begin, begin + digits.size(), value).ptr);
}

}  // namespace memduel
