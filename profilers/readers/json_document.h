// A JSON document of another tool, and errors that say where in the file it breaks off.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/foreign_json.h"
#include "base/json_reason.h"
#include "profilers/profile/model/profile.h"
#include "profilers/readers/plain_source.h"

namespace memduel {

/// Parses the whole source and has `read` make a profile of it; what it throws for a member that is
/// missing, or of another type, becomes an Error(io) like the others.
inline Profile read_json_profile(PlainSource& source,
                                 const std::function<Profile(const nlohmann::json&)>& read) {
  const std::string text = source.rest();
  try {
    return read(nlohmann::json::parse(text, refuse_deep_json));
  } catch (const nlohmann::json::parse_error& problem) {
    source.fail(problem.byte > text.size() ? "the file ends inside its JSON" : "not JSON",
                problem.byte == 0 ? 0 : problem.byte - 1);
  } catch (const std::length_error& problem) {
    source.fail(fmt::format("not a profile: {}", problem.what()));
  } catch (const nlohmann::json::exception& problem) {
    source.fail("not a profile: " + reason_of(problem));
  }
}

/// A number of a document as an amount: not negative and not larger than any program's memory.
inline double json_amount(const nlohmann::json& value, const PlainSource& source) {
  const double amount = value.get<double>();
  constexpr double kMost = 1e18;
  if (!(amount >= 0 && amount <= kMost)) source.fail("an impossible amount");
  return amount;
}

/// A number of a document that is an index below `size`.
inline std::size_t json_index(const nlohmann::json& value, std::size_t size,
                              const PlainSource& source) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= size) {
    source.fail(fmt::format("{} where a number below {} should be", value.dump(), size));
  }
  return value.get<std::size_t>();
}

}  // namespace memduel
