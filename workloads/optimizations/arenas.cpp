#include "workloads/optimizations/arenas.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"

namespace memduel {

std::optional<int> choose_arenas(const char* switch_name, const char* absent,
                                 const nlohmann::json& value) {
  if (value == absent) return std::nullopt;
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
      value.get<std::int64_t>() > std::numeric_limits<int>::max())
    throw Error(
        ExitCode::usage,
        fmt::format("found {}, expected \"{}\" or a whole number from 1", value.dump(), absent),
        fmt::format("optimizations.{}", switch_name));
  return value.get<int>();
}

}  // namespace memduel
