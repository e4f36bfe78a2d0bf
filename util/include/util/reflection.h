// One list of fields for each value of results.json and of the report: JSON is written and read
// from it (described_json.h), and a test holds the viewer's types to it.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace memduel {

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

/// A value that is written as another, which as_written(value) gives.
template <typename T>
concept WrittenAsAnother = requires(const T& value) { as_written(value); };

}  // namespace memduel
