// What the worker uses of {fmt}, for builds on machines without it (MEMDUEL_WORKER_ONLY); g++ 12
// has no std::format to take instead. Replacement fields are {} and {:SPEC} with SPEC =
// [+][0][width][.precision][d|x|f|g]; numbers look as {fmt} prints them.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace fmt {

template <class Range>
struct Joined {
  const Range& range;
  std::string_view separator;
};

namespace detail {

/// Through printf, with the specification's type or `type` where it names none.
template <class Number>
std::string print_number(std::string_view spec, const char* length, char type, Number value) {
  std::string pattern = "%";
  const bool typed = !spec.empty() && std::string_view("dxfg").find(spec.back()) != spec.npos;
  pattern.append(typed ? spec.substr(0, spec.size() - 1) : spec).append(length);
  pattern.push_back(typed ? spec.back() : type);
  std::array<char, 400> text{};
  const int size = std::snprintf(text.data(), text.size(), pattern.c_str(), value);
  if (size < 0 || size >= static_cast<int>(text.size()))
    throw std::runtime_error("cannot format " + pattern);
  return {text.data(), static_cast<std::size_t>(size)};
}

template <std::integral Number>
std::string to_text(std::string_view spec, Number value) {
  if constexpr (std::same_as<Number, bool>) return value ? "true" : "false";
  if constexpr (std::same_as<Number, char>) return std::string(1, value);
  if constexpr (std::is_signed_v<Number>)
    return print_number(spec, "ll", 'd', static_cast<long long>(value));
  else
    return print_number(spec, "ll", 'u', static_cast<unsigned long long>(value));
}

template <std::floating_point Number>
std::string to_text(std::string_view spec, Number value) {
  if (!spec.empty()) return print_number(spec, "", 'g', static_cast<double>(value));
  std::array<char, 64> text{};  // the shortest that reads back as the same number
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

inline std::string to_text(std::string_view /*spec*/, std::string_view value) {
  return std::string(value);
}

template <class Range>
std::string to_text(std::string_view spec, const Joined<Range>& joined) {
  std::string text;
  for (const auto& item : joined.range) {
    if (&item != &*std::begin(joined.range)) text.append(joined.separator);
    text.append(to_text(spec, item));
  }
  return text;
}

/// One argument, whatever its type.
struct Argument {
  const void* value;
  std::string (*print)(std::string_view spec, const void* value);
};

template <class Value>
Argument make_argument(const Value& value) {
  return {&value, [](std::string_view spec, const void* at) {
            return to_text(spec, *static_cast<const Value*>(at));
          }};
}

[[noreturn]] inline void refuse_pattern(std::string_view pattern) {
  throw std::runtime_error("a format string needs other arguments: " + std::string(pattern));
}

inline std::string format_all(std::string_view pattern, const Argument* arguments,
                              std::size_t count) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    const bool doubled = at + 1 < pattern.size() && pattern[at + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      text.push_back(c);
      ++at;
    } else if (c == '{') {
      const std::size_t end = pattern.find('}', at);
      if (end == pattern.npos || next == count) refuse_pattern(pattern);
      std::string_view spec = pattern.substr(at + 1, end - at - 1);
      if (spec.starts_with(':')) spec.remove_prefix(1);
      text.append(arguments[next].print(spec, arguments[next].value));
      ++next;
      at = end;
    } else {
      text.push_back(c);
    }
  }
  return text;
}

}  // namespace detail

template <class... Values>
std::string format(std::string_view pattern, const Values&... values) {
  const std::array<detail::Argument, sizeof...(Values)> arguments{detail::make_argument(values)...};
  return detail::format_all(pattern, arguments.data(), arguments.size());
}

template <class... Values>
void print(std::FILE* file, std::string_view pattern, const Values&... values) {
  std::fputs(format(pattern, values...).c_str(), file);
}

}  // namespace fmt
