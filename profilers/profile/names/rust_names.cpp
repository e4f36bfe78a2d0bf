#include "profilers/profile/names/rust_names.h"

#include <algorithm>
#include <array>

namespace memduel {
namespace {

constexpr std::array<std::string_view, 7> kLibraries = {
    "std::", "alloc::", "core::", "hashbrown::", "__rdl_", "__rg_", "__rustc"};

/// The place of `word` outside of inner brackets; the end where there is none.
std::size_t find_outside(std::string_view text, std::string_view word) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(word)) return i;
    if (text[i] == '<' || text[i] == '(' || text[i] == '[') i = after_bracket(text, i) - 1;
  }
  return text.size();
}

std::string_view without_modifiers(std::string_view type) {
  for (const std::string_view prefix : {"&", "mut ", "dyn "})
    if (type.starts_with(prefix)) type.remove_prefix(prefix.size());
  return type.substr(0, find_outside(type, " + "));
}

/// Of a type or a trait.
bool is_path_of_rust(std::string_view path) {
  if (path.starts_with('<')) return is_of_rust(path);
  while (path.starts_with('[') || path.starts_with('(')) path.remove_prefix(1);
  return path.find("::") == std::string_view::npos || is_of_rust(path);
}

}  // namespace

std::size_t after_bracket(std::string_view text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if ((c == '>' && !arrow) || c == ')' || c == '}' || c == ']') --depth;
    if (depth == 0) return i + 1;
  }
  return text.size();
}

std::optional<RustMethod> rust_method(std::string_view function) {
  if (!function.starts_with('<')) return std::nullopt;
  const std::size_t end = after_bracket(function, 0);
  if (!function.substr(end).starts_with("::")) return std::nullopt;
  const std::string_view inside = function.substr(1, end - 2);
  const std::size_t as = find_outside(inside, " as ");
  return RustMethod{without_modifiers(inside.substr(0, as)),
                    as == inside.size() ? std::string_view() : inside.substr(as + 4),
                    function.substr(end)};
}

bool is_of_rust(std::string_view function) {
  if (const auto method = rust_method(function))
    return is_path_of_rust(method->type) && is_path_of_rust(method->trait);
  return std::ranges::any_of(
      kLibraries, [&](std::string_view library) { return function.starts_with(library); });
}

}  // namespace memduel
