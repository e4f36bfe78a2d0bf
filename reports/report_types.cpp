// memduel-report-types FILE: writes the TypeScript types of the report's JSON, which the page is
// compiled with, from the descriptions that also write the JSON.

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "model_json.h"
#include "util/reflection.h"

namespace memduel {

/// Declares each described type once, those it is made of first.
class TypeScript {
 public:
  template <Described T>
  void declare() {
    const std::string name(kDescription<T>.name);
    if (!declared_.insert(name).second) return;
    std::string body;
    for_each_field<T>([&](const auto& field) {
      using Member = std::remove_cvref_t<decltype(std::declval<T>().*field.member)>;
      const bool missing = field.presence == Presence::if_set;
      body += fmt::format("  {}{}: {}{};\n", field.name, missing ? "?" : "", type<Member>(),
                          field.presence == Presence::text_or_null ? " | null" : "");
    });
    text_ += fmt::format("\nexport interface {} {{\n{}}}\n", name, body);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename T>
  std::string type() {
    if constexpr (WrittenAsAnother<T>) {
      return type<std::remove_cvref_t<decltype(as_written(std::declval<const T&>()))>>();
    } else if constexpr (Described<T>) {
      declare<T>();
      return std::string(kDescription<T>.name);
    } else if constexpr (Named<T>) {
      std::string names;
      for (const auto& [value, name] : kNameTable<T>)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : " | ", name);
      return names;
    } else if constexpr (VariantValue<T>) {
      return one_of(static_cast<const T*>(nullptr));
    } else if constexpr (OptionalValue<T>) {
      return type<typename T::value_type>() + " | null";
    } else if constexpr (DictionaryValue<T>) {
      return fmt::format("Record<string, {}>", type<typename T::mapped_type>());
    } else if constexpr (PairValue<T>) {
      return fmt::format("[{}, {}]", type<typename T::first_type>(),
                         type<typename T::second_type>());
    } else if constexpr (std::is_same_v<T, bool>) {
      return "boolean";
    } else if constexpr (std::is_arithmetic_v<T>) {
      return "number";
    } else if constexpr (std::is_same_v<T, std::string>) {
      return "string";
    } else if constexpr (std::is_same_v<T, nlohmann::json>) {
      return "Record<string, unknown>";
    } else {
      const std::string item = type<typename T::value_type>();
      return item.find(' ') == std::string::npos ? item + "[]" : fmt::format("({})[]", item);
    }
  }

  template <typename... Values>
  std::string one_of(const std::variant<Values...>* /*type*/) {
    std::string all;
    ((all += fmt::format("{}({{ kind: \"{}\" }} & {})", all.empty() ? "" : " | ",
                         kDescription<Values>.name, type<Values>())),
     ...);
    return all;
  }

  std::set<std::string> declared_;
  std::string text_;
};

}  // namespace memduel

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  memduel::TypeScript types;
  types.declare<memduel::Results>();
  types.declare<memduel::PageData>();
  std::ofstream file(argv[1]);
  file << "// Made by reports/report_types.cpp. Units and meanings are in the structs described "
          "there.\n"
       << types.text();
  return file.flush() ? 0 : 1;
}
