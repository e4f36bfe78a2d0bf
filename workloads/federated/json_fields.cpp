#include "workloads/federated/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace memduel {

JsonFields::JsonFields(const nlohmann::json& object, std::string file, std::string path)
    : object_(object), file_(std::move(file)), path_(std::move(path)) {
  if (!object_.is_object())
    throw Error(ExitCode::usage,
                fmt::format("{}: found {}, expected an object", path_.empty() ? "root" : path_,
                            object_.type_name()),
                file_);
}

std::string JsonFields::place(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonFields::fail(const std::string& key, const std::string& what) const {
  throw Error(ExitCode::usage, fmt::format("{}: {}", place(key), what), file_);
}

const nlohmann::json& JsonFields::required(const std::string& key) {
  known_.insert(key);
  const auto found = object_.find(key);
  if (found == object_.end()) fail(key, "missing");
  return *found;
}

bool JsonFields::has(const std::string& key) {
  known_.insert(key);
  return object_.contains(key);
}

std::int64_t JsonFields::checked_integer(const nlohmann::json& value, const std::string& key,
                                         std::int64_t least) const {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least)
    fail(key, fmt::format("found {}, expected a whole number of at least {}", value.dump(), least));
  return value.get<std::int64_t>();
}

std::int64_t JsonFields::integer(const std::string& key, std::int64_t least) {
  return checked_integer(required(key), key, least);
}

std::int64_t JsonFields::integer_or(const std::string& key, std::int64_t least,
                                    std::int64_t fallback) {
  return has(key) ? integer(key, least) : fallback;
}

double JsonFields::positive(const std::string& key) {
  const nlohmann::json& value = required(key);
  if (!value.is_number() || !(value.get<double>() > 0)) fail(key, not_above_zero(value.dump()));
  return value.get<double>();
}

std::string JsonFields::word(const std::string& key, const std::vector<std::string>& choices) {
  const auto value = get<std::string>(key);
  if (std::ranges::find(choices, value) == choices.end())
    fail(key, fmt::format("found \"{}\", expected {}", value, fmt::join(choices, ", ")));
  return value;
}

std::string JsonFields::word_or(const std::string& key, const std::vector<std::string>& choices,
                                const std::string& fallback) {
  return has(key) ? word(key, choices) : fallback;
}

JsonFields JsonFields::object(const std::string& key) {
  return {required(key), file_, place(key)};
}

void JsonFields::expect_no_more() const {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& [key, value] : object_.items()) {
    if (known_.contains(key)) continue;
    fail(key, "unknown key; " +
                  nearest_advice(key, known, fmt::format("known are {}", fmt::join(known, ", "))));
  }
}

}  // namespace memduel
