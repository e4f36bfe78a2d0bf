// Which function of a stack tells a reader most about its memory, and who called it.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/function_names.h"

namespace memduel {
namespace {

/// LibTorch's dispatch, operators and what the C++ library inlines to call them.
bool passes_calls_on(std::string_view name) {
  constexpr std::array kPrefixes = {"at::", "c10::", "torch::", "__invoke"};
  return name.find("operator") != std::string_view::npos ||
         std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// What begins a thread in the C++ and C libraries, where these have no names.
bool is_place_of_runtime(std::string_view name) {
  return name.starts_with("libstdc++.so") || name.starts_with("libc.so");
}

bool is_python(const std::string& name) {
  return name.ends_with(".py)");
}

/// "memduel::Bytes" of "memduel::Bytes::reserve"; empty of a function outside classes.
std::string_view class_of(std::string_view name) {
  const std::size_t end = name.rfind("::");
  return end == std::string_view::npos ? std::string_view() : name.substr(0, end);
}

/// Whether `inner` is defined within `outer`: `load.<locals>.<listcomp> (a.py)` in `load (a.py)`.
bool is_nested_in(std::string_view inner, std::string_view outer) {
  const std::string_view function = outer.substr(0, outer.rfind(" ("));
  return inner.starts_with(function) && inner.substr(function.size()).starts_with(".<locals>.");
}

}  // namespace

std::size_t telling_frame(const std::vector<std::string>& stack) {
  const auto innermost = [&](auto tells) -> std::optional<std::size_t> {
    for (std::size_t i = stack.size(); i-- > 0;)
      if (tells(stack[i])) return i;
    return std::nullopt;
  };
  if (const auto at = innermost([](const auto& name) { return runtime_memory(name) != nullptr; }))
    return *at;
  // What a Python function calls in C is the library's business.
  if (const auto at = innermost(is_python)) return *at;
  const auto named = innermost([](const auto& function) {
    return !is_place(function) && !hands_memory_out(function) && !starts_something(function);
  });
  if (named) return *named;
  const auto place = innermost(
      [](const auto& name) { return is_place(name) && name.find(".so") == std::string::npos; });
  if (place) return *place;
  const auto any = innermost([](const auto& function) { return !hands_memory_out(function); });
  return any.value_or(stack.empty() ? 0 : stack.size() - 1);
}

std::optional<std::size_t> telling_caller_frame(const std::vector<std::string>& stack) {
  if (stack.empty()) return std::nullopt;
  const std::size_t at = telling_frame(stack);
  const std::string_view own_class = class_of(qualified_name(stack[at]));
  const bool python =
      is_python(stack[at]) || (runtime_memory(stack[at]) != nullptr &&
                               std::any_of(stack.begin(), stack.begin() + at, is_python));
  std::optional<std::size_t> place;  // says something only where no caller has a name
  for (std::size_t i = at; i-- > 0;) {
    const std::string_view name = qualified_name(stack[i]);
    const bool same_class = !own_class.empty() && class_of(name) == own_class;
    if (stack[i] == stack[at] || same_class || (python && !is_python(stack[i]))) continue;
    if (python && is_nested_in(stack[at], stack[i])) continue;
    if (hands_memory_out(stack[i]) || passes_calls_on(name)) continue;
    if (starts_something(stack[i]) || is_place_of_runtime(name)) continue;
    if (!is_place(stack[i])) return i;
    if (!place) place = i;
  }
  return place;
}

std::string telling_caller(const std::vector<std::string>& stack) {
  const auto at = telling_caller_frame(stack);
  return at ? stack[*at] : std::string();
}

std::optional<std::size_t> frame_with_location(const std::vector<std::string>& stack) {
  if (stack.empty()) return std::nullopt;
  const std::size_t at = telling_frame(stack);
  return runtime_memory(stack[at]) == nullptr ? at : telling_caller_frame(stack);
}

std::vector<std::size_t> frames_with_locations(const std::vector<std::string>& stack) {
  const auto first = frame_with_location(stack);
  if (!first) return {};
  std::vector<std::size_t> frames = {*first};
  for (std::size_t i = *first; i-- > 0;)
    if (is_python(stack[i])) frames.push_back(i);
  return frames;
}

}  // namespace memduel
