// A switch whose value is a number.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace memduel {

/// As many as the schema allows of a run.
inline constexpr int kMostRounds = 1000000;

/// Throws Error(usage) naming the switch for anything but a whole number from `least` to `most`.
inline int choose_whole_number(const char* switch_name, const nlohmann::json& value, int least,
                               int most) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least ||
      value.get<std::int64_t>() > most)
    throw Error(ExitCode::usage, not_whole_number(value.dump(), least, most),
                fmt::format("optimizations.{}", switch_name));
  return value.get<int>();
}

}  // namespace memduel
