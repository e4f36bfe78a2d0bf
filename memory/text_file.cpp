#include "memory/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace memduel {
namespace {

/// What comes after `name` at the start of the first line that begins with it.
std::optional<std::string_view> line_after(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).starts_with(name)) return text.substr(name.size(), end - name.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

}  // namespace

std::string text_of(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(file, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::int64_t> keyed_number(std::string_view text, std::string_view key) {
  const auto value = line_after(text, std::string(key) + " ");
  return value ? number_in(*value) : std::nullopt;
}

std::optional<std::int64_t> sized_field(std::string_view text, std::string_view name) {
  constexpr std::int64_t kKib = 1024;
  auto value = line_after(text, std::string(name) + ":");
  if (!value || !value->ends_with(" kB")) return std::nullopt;
  const std::size_t digits = value->find_first_not_of(" \t");
  const auto kib = number_in(value->substr(digits));
  if (!kib || *kib < 0 || *kib > INT64_MAX / kKib) return std::nullopt;
  return *kib * kKib;
}

}  // namespace memduel
