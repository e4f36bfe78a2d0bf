// A row for each switch: its name, and how its value becomes a part of the arm's Optimizations. A
// file that implements switches has their rows.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "fl/worker_config.h"
#include "optimizations.h"
#include "util/error.h"

namespace memduel {

/// What an arm chose for one switch, and what the choice may depend on.
struct Setting {
  const char* name;
  const nlohmann::json& value;
  const nlohmann::json& all;  ///< every switch's value
  std::size_t max_message_bytes;
  const at::Device& device;

  [[nodiscard]] std::string text() const {
    if (value.is_string()) return value.get<std::string>();
    throw Error(ExitCode::usage, fmt::format("found {}, expected one of its values", value.dump()),
                fmt::format("switches.{}", name));
  }
};

struct Switch {
  const char* name;
  void (*choose)(Optimizations& chosen, const Setting& setting);
};

/// Of a switch whose values are words for those of the field, or for functions that make them.
template <auto kField, const auto& kChoices>
void choose_word(Optimizations& chosen, const Setting& setting) {
  auto value = choose(setting.name, kChoices, setting.text());
  if constexpr (std::is_invocable_v<decltype(value)>)
    chosen.*kField = value();
  else
    chosen.*kField = value;
}

/// Of a switch that counts rounds.
template <auto kField>
void choose_rounds(Optimizations& chosen, const Setting& setting) {
  chosen.*kField = choose_whole_number(setting.name, setting.value, 0, kMostRounds);
}

std::span<const Switch> lifetime_switches();

}  // namespace memduel
