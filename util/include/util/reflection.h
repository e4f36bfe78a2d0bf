// Static reflection: one table of names for an enumeration's values, and one list of fields for a
// struct. json.h reads and writes JSON from them, and the types of the page come from them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
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

enum class Presence {
  always,        ///< refused where it is missing; an optional is null or missing when it is absent
  later,         ///< always written; a file of an earlier version lacks it and gets the default
  text_or_null,  ///< as `later`, and null for an empty text
  if_set         ///< left out where it is empty, absent or false
};

template <typename Owner, typename Member>
struct Field {
  std::string_view name;
  Member Owner::* member;
  Presence presence;
};

template <typename... Fields>
struct Description {
  std::string_view name;  ///< of the viewer's type
  std::tuple<Fields...> fields;
};

template <typename Owner, typename Member>
constexpr auto always(std::string_view name, Member Owner::* member) {
  return Field<Owner, Member>{name, member, Presence::always};
}
template <typename Owner, typename Member>
constexpr auto later(std::string_view name, Member Owner::* member) {
  return Field<Owner, Member>{name, member, Presence::later};
}
template <typename Owner, typename Member>
constexpr auto text_or_null(std::string_view name, Member Owner::* member) {
  return Field<Owner, Member>{name, member, Presence::text_or_null};
}
template <typename Owner, typename Member>
constexpr auto if_set(std::string_view name, Member Owner::* member) {
  return Field<Owner, Member>{name, member, Presence::if_set};
}

template <typename... Fields>
constexpr auto described(std::string_view name, Fields... fields) {
  return Description<Fields...>{name, {fields...}};
}

/// Specialised for each described value.
template <typename T>
inline constexpr auto kDescription = nullptr;

template <typename T>
concept Described = requires { kDescription<T>.fields; };

template <Described T, typename Visit>
constexpr void for_each_field(Visit visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(std::get<I>(kDescription<T>.fields)), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(kDescription<T>.fields)>>());
}

template <typename T>
concept OptionalValue = requires(const T& value) {
  value.has_value();
  typename T::value_type;
};
template <typename T>
concept PairValue = requires {
  typename T::first_type;
  typename T::second_type;
};
template <typename T>
concept DictionaryValue =
    requires { typename T::mapped_type; } && !requires { typename T::parse_event_t; };

/// One of several described values: written as the one it is, with its name under "kind".
template <typename T>
concept VariantValue = requires(const T& value) {
  value.valueless_by_exception();
  value.index();
};

/// A value that is written as another, which as_written(value) gives.
template <typename T>
concept WrittenAsAnother = requires(const T& value) { as_written(value); };

}  // namespace memduel
