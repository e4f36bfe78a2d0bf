// The names of an enumeration's values as files and reports write them: one table each.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace memduel {

template <typename Enum, std::size_t N>
using NameTable = std::array<std::pair<Enum, std::string_view>, N>;

/// Specialised beside each enumeration that has names.
template <typename Enum>
inline constexpr auto kNameTable = nullptr;

template <typename Enum>
concept Named = requires { kNameTable<Enum>.size(); };

template <Named Enum>
constexpr std::string_view to_name(Enum value) {
  for (const auto& [candidate, name] : kNameTable<Enum>)
    if (candidate == value) return name;
  return {};
}

/// Absent where no value has the name.
template <Named Enum>
constexpr std::optional<Enum> from_name(std::string_view text) {
  for (const auto& [value, name] : kNameTable<Enum>)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace memduel
