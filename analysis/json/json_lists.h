// Lists and named values of results.json, for every file that writes and reads a part of it.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/json/json_reader.h"
#include "analysis/values/names.h"

namespace memduel {

/// The value that the member names. Throws Error(io) with the names that there are.
template <typename Enum, size_t N>
Enum enum_at(const JsonReader& object, const char* member, const Names<Enum, N>& names) {
  const JsonReader reader = object.at(member);
  const std::string text = reader.text();
  std::string expected = "one of";
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    expected += fmt::format(" {}", name);
  }
  reader.refuse(expected);
}

template <typename T, typename Write>
nlohmann::json list_to_json(const std::vector<T>& items, Write write) {
  nlohmann::json list = nlohmann::json::array();
  for (const T& item : items) list.push_back(write(item));
  return list;
}

template <typename Read>
auto list_from_json(const JsonReader& in, const char* member, Read read) {
  std::vector<decltype(read(in))> items;
  for (const JsonReader& element : in.list(member)) items.push_back(read(element));
  return items;
}

}  // namespace memduel
