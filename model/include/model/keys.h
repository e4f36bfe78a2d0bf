// The keys of a section of a config: each with its member, limits and one line for people. A
// section is a struct; what a key has where it is absent is what the struct has. Parsing, writing,
// the schema, the reference page and completion are made of these tables.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/document.h"
#include "util/error.h"
#include "util/json.h"
#include "util/reflection.h"

namespace memduel {

/// With its keys in the order in which they are declared.
using Schema = nlohmann::ordered_json;

inline Schema range(std::int64_t least, std::int64_t most) {
  return {{"minimum", least}, {"maximum", most}};
}

/// Limits that code keeps, too.
inline constexpr std::size_t kLongestVariantName = 60;
inline constexpr std::size_t kLongestTitle = 100;
inline constexpr std::size_t kMostVariants = 64;
inline constexpr int kMostRepeats = 10'000;
inline constexpr int kMostWarmups = 100;
inline constexpr int kMostRoundsOfJob = 1'000'000'000;
/// JSON's readers keep 53 bits.
inline constexpr std::int64_t kMostSeed = (std::int64_t{1} << 53) - 1;

/// The names of meters in a list.
inline const Schema kMeters = {
    {"items", {{"enum", {"procfs", "heap", "cgroup", "allocator", "torch", "cuda", "nvml"}}}}};

/// What is written of a section.
enum class Write {
  all,   ///< defaults, too
  given  ///< what differs from its default
};

/// Whether a variant may have this name: letters, digits and . _ + -, the first a letter or digit.
bool is_variant_name(std::string_view name);

template <typename S>
class Keys;

const Keys<Document>& keys_of(const Document*);
const Keys<Variant>& keys_of(const Variant*);
const Keys<Job>& keys_of(const Job*);
const Keys<JobTemplate>& keys_of(const JobTemplate*);

/// A struct with a table: `const Keys<S>& keys_of(const S*)`.
template <typename S>
concept KeySection = requires(const S* none) { keys_of(none); };

template <typename T>
concept KeyText =
    std::is_convertible_v<T, std::string_view> || std::is_same_v<T, std::filesystem::path>;

/// The schema of a value; those of the sections in it go into `definitions`.
template <typename T>
Schema schema_of(Schema& definitions);
/// Of a value that follows the schema. Throws Error(usage) with the path below it, as in
/// ".repeats", of one that does not: a stored config may come from anywhere.
template <typename T>
void read_from(const nlohmann::json& value, T& into);
template <typename T>
nlohmann::json write_value(const T& value, Write write);

/// Adds the step to the path of an error.
template <typename Read>
void read_below(const std::string& step, const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), step + error.where(), error.advice());
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::usage, "found a value of another form: " + reason_of(error), step);
  }
}

enum class KeyPresence { required, with_default, optional };

template <typename S>
struct Key {
  using Presence = KeyPresence;

  std::string name;
  Presence presence = Presence::optional;
  std::function<Schema(Schema& definitions)> schema;
  std::function<void(const nlohmann::json& value, S& into)> read;
  std::function<nlohmann::json(const S& section, Write write)> write;
};

template <typename S>
class Keys {
 public:
  /// @param name of its definition in the schema. @param limits of the object itself. @param
  /// defaults a section in which nothing is given
  explicit Keys(std::string name, Schema limits = Schema::object(), S defaults = {})
      : name_(std::move(name)), limits_(std::move(limits)), defaults_(std::move(defaults)) {}

  /// @param limits keywords of JSON schema beside those of the type
  template <typename T>
  Keys& required(const char* name, T S::* member, const char* text,
                 const Schema& limits = Schema::object()) {
    return add(Presence::required, name, member, text, limits);
  }
  /// Written with its default, which the schema has.
  template <typename T>
  Keys& with_default(const char* name, T S::* member, const char* text,
                     const Schema& limits = Schema::object()) {
    return add(Presence::with_default, name, member, text, limits);
  }
  /// Written where it is not as in a new section.
  template <typename T>
  Keys& optional(const char* name, T S::* member, const char* text,
                 const Schema& limits = Schema::object()) {
    return add(Presence::optional, name, member, text, limits);
  }
  /// A value that has a form of its own, with its whole schema as text.
  Keys& in_form(const char* name, const char* schema,
                std::function<void(const nlohmann::json& value, S& into)> read,
                std::function<nlohmann::json(const S& section)> write) {
    Schema own = Schema::parse(schema);
    const Presence presence = own.contains("default") ? Presence::with_default : Presence::optional;
    return add({name, presence, [own = std::move(own)](Schema&) { return own; }, std::move(read),
                [=](const S& section, Write) { return write(section); }});
  }
  /// A key that is judged, and read by nobody here.
  Keys& judged(const char* name, const char* schema) {
    return add(
        {name, Presence::optional, [own = Schema::parse(schema)](Schema&) { return own; }, {}, {}});
  }
  Keys& add(Key<S> key) {
    keys_.push_back(std::move(key));
    return *this;
  }
  /// A key of an earlier version, which is refused. @param instead what to use in its place
  Keys& removed(const char* name, const char* instead) {
    return judged(name, Schema{{"removed", instead}}.dump().c_str());
  }
  /// The keys of a part of the section as its own. They are not written.
  template <typename T>
  Keys& with_keys_of(T S::* part, const Keys<T>& keys) {
    for (const Key<T>& key : keys.keys_)
      add({key.name,
           key.presence,
           key.schema,
           [=, read = key.read](const nlohmann::json& value, S& into) { read(value, into.*part); },
           {}});
    return *this;
  }

  [[nodiscard]] const S& defaults() const { return defaults_; }

  /// The table of some of the keys.
  [[nodiscard]] Keys only(const std::vector<std::string>& names) const {
    Keys some(name_, limits_, defaults_);
    for (const Key<S>& key : keys_)
      if (std::ranges::find(names, key.name) != names.end()) some.add(key);
    return some;
  }

  /// Where it is used, by a reference to its definition.
  [[nodiscard]] Schema schema(Schema& definitions) const {
    if (!definitions.contains(name_)) {
      definitions[name_] = nullptr;  // a section may contain itself
      Schema own = object_schema(definitions);
      definitions[name_] = std::move(own);
    }
    return {{"$ref", "#/definitions/" + name_}};
  }

  [[nodiscard]] Schema object_schema(Schema& definitions) const {
    Schema object = {{"type", "object"}, {"additionalProperties", false}};
    object.update(limits_);
    for (const Key<S>& key : keys_)
      if (key.presence == Presence::required) object["required"].push_back(key.name);
    for (const Key<S>& key : keys_) object["properties"][key.name] = key.schema(definitions);
    return object;
  }

  void read(const nlohmann::json& object, S& into) const {
    for (const Key<S>& key : keys_)
      if (const auto found = object.find(key.name); found != object.end() && key.read)
        read_below("." + key.name, [&] { key.read(*found, into); });
  }

  [[nodiscard]] nlohmann::json write(const S& section, Write write) const {
    nlohmann::json object = nlohmann::json::object();
    for (const Key<S>& key : keys_) {
      if (!key.write) continue;
      nlohmann::json value = key.write(section, write);
      if (value.is_null()) continue;
      const bool always = key.presence == Presence::required ||
                          (key.presence == Presence::with_default && write == Write::all);
      if (always || value != key.write(defaults_, write)) object[key.name] = std::move(value);
    }
    return object;
  }

 private:
  using Presence = KeyPresence;

  template <typename T>
  friend class Keys;

  template <typename T>
  Keys& add(Presence presence, const char* name, T S::* member, const char* text,
            const Schema& limits) {
    return add(
        {name, presence,
         [=, absent = defaults_.*member](Schema& definitions) {
           Schema key = schema_of<T>(definitions);
           key.update(limits, true);
           if (presence == Presence::with_default)
             key["default"] =
                 KeySection<T> ? nlohmann::json::object() : write_value(absent, Write::all);
           if (*text != '\0') key["description"] = text;
           return key;
         },
         [=](const nlohmann::json& value, S& into) { read_from(value, into.*member); },
         [=](const S& section, Write write) { return write_value(section.*member, write); }});
  }

  std::string name_;
  Schema limits_;
  S defaults_;
  std::vector<Key<S>> keys_;
};

template <typename T>
Schema schema_of(Schema& definitions) {
  if constexpr (KeySection<T>) {
    return keys_of(static_cast<const T*>(nullptr)).schema(definitions);
  } else if constexpr (Named<T>) {
    Schema names = Schema::array();
    for (const auto& [value, name] : kNameTable<T>) names.push_back(name);
    return {{"enum", names}};
  } else if constexpr (OptionalValue<T>) {
    return schema_of<typename T::value_type>(definitions);
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_integral_v<T>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {{"type", "number"}};
  } else if constexpr (std::is_same_v<T, nlohmann::json>) {
    return Schema::object();
  } else if constexpr (DictionaryValue<T>) {
    return {{"type", "object"},
            {"additionalProperties", schema_of<typename T::mapped_type>(definitions)}};
  } else if constexpr (std::is_same_v<T, Argv>) {
    return {{"type", "array"}, {"items", {{"type", "string"}}}};
  } else if constexpr (KeyText<T>) {
    return {{"type", "string"}};
  } else {
    return {{"type", "array"}, {"items", schema_of<typename T::value_type>(definitions)}};
  }
}

[[noreturn]] inline void refuse_stored(const nlohmann::json& value, const std::string& expected) {
  throw Error(ExitCode::usage, "expected " + expected + ", found " + value.dump());
}

template <typename T>
void read_from(const nlohmann::json& value, T& into) {
  if constexpr (KeySection<T>) {
    keys_of(static_cast<const T*>(nullptr)).read(value, into);
  } else if constexpr (Named<T>) {
    const auto named = from_name<T>(value.get<std::string>());
    if (!named) {
      std::string names;
      for (const auto& [other, name] : kNameTable<T>)
        names += (names.empty() ? "" : " or ") + std::string(name);
      refuse_stored(value, names);
    }
    into = *named;
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!value.is_number_integer() ||
        !(value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                     : std::in_range<T>(value.get<std::int64_t>())))
      refuse_stored(value, "a whole number");
    value.get_to(into);
  } else if constexpr (OptionalValue<T>) {
    if (value.is_null())
      into.reset();
    else
      read_from(value, into.emplace());
  } else if constexpr (std::is_same_v<T, nlohmann::json>) {
    into = value;
  } else if constexpr (DictionaryValue<T>) {
    into.clear();
    for (const auto& item : value.items())
      read_below("." + item.key(), [&] { read_from(item.value(), into[item.key()]); });
  } else if constexpr (std::is_arithmetic_v<T> || KeyText<T>) {
    value.get_to(into);
  } else {
    into.clear();
    for (std::size_t i = 0; i < value.size(); ++i)
      read_below("[" + std::to_string(i) + "]",
                 [&] { read_from(value.at(i), into.emplace_back()); });
  }
}

template <typename T>
nlohmann::json write_value(const T& value, Write write) {
  if constexpr (KeySection<T>) {
    return keys_of(static_cast<const T*>(nullptr)).write(value, write);
  } else if constexpr (Named<T>) {
    return to_name(value);
  } else if constexpr (OptionalValue<T>) {
    return value ? write_value(*value, write) : nlohmann::json();
  } else if constexpr (std::is_floating_point_v<T>) {
    // 2, not 2.0: a number that people write whole is written as they do.
    constexpr double kMostExact = 1e15;
    const bool whole = std::trunc(value) == value && std::abs(value) < kMostExact;
    return whole ? nlohmann::json(static_cast<std::int64_t>(value)) : nlohmann::json(value);
  } else if constexpr (DictionaryValue<T>) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [name, entry] : value) object[name] = write_value(entry, write);
    return object;
  } else if constexpr (std::is_arithmetic_v<T> || KeyText<T> || std::is_same_v<T, nlohmann::json>) {
    return value;
  } else {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& element : value) list.push_back(write_value(element, write));
    return list;
  }
}

/// A schema by itself, with its definitions in it.
template <KeySection S>
Schema whole_schema_of() {
  Schema definitions = Schema::object();
  Schema schema = keys_of(static_cast<const S*>(nullptr)).object_schema(definitions);
  schema["definitions"] = std::move(definitions);
  return schema;
}

}  // namespace memduel
