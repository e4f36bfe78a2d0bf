// JSON: typed access with errors that name the path, the reason of a parse error, documents that
// somebody else wrote, and described values (reflection.h) both ways.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "util/reflection.h"

namespace memduel {

/// A value and where it stands. Every read checks the type and throws Error(io) naming file, path,
/// what was found and what was expected.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& value, std::string file, std::string path = "");

  /// A member that must be there.
  [[nodiscard]] JsonReader at(const std::string& name) const;
  /// A member that may be missing or null.
  [[nodiscard]] std::optional<JsonReader> find(const std::string& name) const;
  [[nodiscard]] std::vector<JsonReader> elements() const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;

  [[nodiscard]] double number() const;
  [[nodiscard]] long long integer() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] const nlohmann::json& raw() const { return *value_; }

  [[nodiscard]] std::optional<double> maybe_number(const std::string& name) const;
  [[nodiscard]] std::optional<int> maybe_int(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> maybe_text(const std::string& name) const;
  [[nodiscard]] std::optional<bool> maybe_boolean(const std::string& name) const;
  /// Elements of an array member, none when it is missing.
  [[nodiscard]] std::vector<JsonReader> list(const std::string& name) const;

  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  const nlohmann::json* value_;
  std::string file_;
  std::string path_;
};

/// What the library says, without its own name and number for it.
std::string reason_of(const nlohmann::json::exception& error);

/// nlohmann's values are written and destroyed by functions that call themselves: a document of
/// 200,000 brackets would overflow the stack.
inline constexpr int kDeepestJson = 200;

/// A callback for nlohmann's parser. Throws std::length_error for a deeper value.
bool refuse_deep_json(int depth, nlohmann::json::parse_event_t event, nlohmann::json& value);

/// Discarded where it is no JSON, or nested deeper than kDeepestJson.
nlohmann::json parse_foreign_json(std::string_view text);

template <typename T>
bool is_set(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value != T{};
  else if constexpr (OptionalValue<T>)
    return value.has_value();
  else if constexpr (Named<T>)
    return !to_name(value).empty();
  else if constexpr (requires { value.empty(); })
    return !value.empty();
  else
    return true;
}

/// Of a dictionary's numbers those that are not finite are left out: JSON has no NaN, and what is
/// not a number was not measured.
template <typename T>
nlohmann::json written(const T& value) {
  if constexpr (WrittenAsAnother<T>) {
    return written(as_written(value));
  } else if constexpr (Described<T>) {
    nlohmann::json object = nlohmann::json::object();
    for_each_field<T>([&](const auto& field) {
      const auto& member = value.*field.member;
      if (field.presence == Presence::if_set && !is_set(member)) return;
      nlohmann::json& place = object[std::string(field.name)];
      if (field.presence != Presence::text_or_null || is_set(member)) place = written(member);
    });
    return object;
  } else if constexpr (Named<T>) {
    return to_name(value);
  } else if constexpr (VariantValue<T>) {
    return std::visit(
        []<typename One>(const One& one) {
          nlohmann::json object = written(one);
          object["kind"] = kDescription<One>.name;
          return object;
        },
        value);
  } else if constexpr (OptionalValue<T>) {
    return value ? written(*value) : nlohmann::json(nullptr);
  } else if constexpr (DictionaryValue<T>) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [name, entry] : value) {
      if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(entry)>>)
        if (!std::isfinite(entry)) continue;
      object[name] = written(entry);
    }
    return object;
  } else if constexpr (PairValue<T>) {
    return nlohmann::json::array({written(value.first), written(value.second)});
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                       std::is_same_v<T, nlohmann::json>) {
    return value;
  } else {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& item : value) list.push_back(written(item));
    return list;
  }
}

/// Throws Error(io) that names the place, what was found and what was expected.
template <typename T>
T read_value(const JsonReader& in) {
  if constexpr (Described<T>) {
    T value;
    for_each_field<T>([&](const auto& field) {
      auto& member = value.*field.member;
      using Member = std::remove_reference_t<decltype(member)>;
      const std::string name(field.name);
      if (field.presence == Presence::always && !OptionalValue<Member>)
        member = read_value<Member>(in.at(name));
      else if (const auto found = in.find(name))
        member = read_value<Member>(*found);
    });
    return value;
  } else if constexpr (Named<T>) {
    const std::string text = in.text();
    if (const auto value = from_name<T>(text)) return *value;
    std::string expected = "one of";
    for (const auto& [value, name] : kNameTable<T>) expected += fmt::format(" {}", name);
    in.refuse(expected);
  } else if constexpr (OptionalValue<T>) {
    return read_value<typename T::value_type>(in);
  } else if constexpr (DictionaryValue<T>) {
    T dictionary;
    for (const auto& [name, entry] : in.members())
      dictionary.emplace(name, read_value<typename T::mapped_type>(entry));
    return dictionary;
  } else if constexpr (PairValue<T>) {
    const std::vector<JsonReader> both = in.elements();
    if (both.size() != 2) in.refuse("a list of two");
    return {read_value<typename T::first_type>(both[0]),
            read_value<typename T::second_type>(both[1])};
  } else if constexpr (std::is_same_v<T, bool>) {
    return in.boolean();
  } else if constexpr (std::is_integral_v<T>) {
    const long long number = in.integer();
    if (!std::in_range<T>(number))
      in.refuse(fmt::format("a whole number that fits {} bits", 8 * sizeof(T)));
    return static_cast<T>(number);
  } else if constexpr (std::is_floating_point_v<T>) {
    return in.number();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return in.text();
  } else if constexpr (std::is_same_v<T, nlohmann::json>) {
    return in.raw();
  } else {
    std::vector<typename T::value_type> list;
    for (const JsonReader& element : in.elements())
      list.push_back(read_value<typename T::value_type>(element));
    return list;
  }
}

}  // namespace memduel
