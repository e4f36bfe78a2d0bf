// A switch in code: its values and what each stands for, in one table.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace memduel {

template <class Item>
struct Choice {
  std::string_view value;
  Item item;
};

/// The item of `value`. Throws Error(usage) naming the switch and its values.
template <class Item, std::size_t Count>
const Item& choose(std::string_view switch_name, const Choice<Item> (&choices)[Count],
                   std::string_view value) {
  std::string known;
  for (const Choice<Item>& choice : choices) {
    if (choice.value == value) return choice.item;
    known.append(known.empty() ? "" : ", ").append(choice.value);
  }
  throw Error(ExitCode::usage, fmt::format("found \"{}\", expected {}", value, known),
              fmt::format("optimizations.{}", switch_name));
}

template <class Item, std::size_t Count>
std::vector<std::string> values_of(const Choice<Item> (&choices)[Count]) {
  std::vector<std::string> values;
  for (const Choice<Item>& choice : choices) values.emplace_back(choice.value);
  return values;
}

}  // namespace memduel
