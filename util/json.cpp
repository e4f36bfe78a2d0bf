#include "util/json.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "util/error.h"

namespace memduel {

JsonReader::JsonReader(const nlohmann::json& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

void JsonReader::refuse(const std::string& expected) const {
  std::string found = value_->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (found.size() > 60) found = found.substr(0, 57) + "...";
  throw Error(ExitCode::io, fmt::format("expected {}, found {}", expected, found),
              fmt::format("{} at {}", file_, path_.empty() ? "/" : path_));
}

JsonReader JsonReader::at(const std::string& name) const {
  if (!value_->is_object()) refuse("an object");
  const auto at = value_->find(name);
  if (at == value_->end()) refuse(fmt::format("a member '{}'", name));
  return {*at, file_, path_ + "/" + name};
}

std::optional<JsonReader> JsonReader::find(const std::string& name) const {
  if (!value_->is_object()) refuse("an object");
  const auto at = value_->find(name);
  if (at == value_->end() || at->is_null()) return std::nullopt;
  return JsonReader(*at, file_, path_ + "/" + name);
}

std::vector<JsonReader> JsonReader::elements() const {
  if (!value_->is_array()) refuse("an array");
  std::vector<JsonReader> all;
  for (size_t i = 0; i < value_->size(); ++i) {
    all.emplace_back((*value_)[i], file_, fmt::format("{}/{}", path_, i));
  }
  return all;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  if (!value_->is_object()) refuse("an object");
  std::vector<std::pair<std::string, JsonReader>> all;
  for (const auto& [name, value] : value_->items()) {
    all.emplace_back(name, JsonReader(value, file_, path_ + "/" + name));
  }
  return all;
}

double JsonReader::number() const {
  if (!value_->is_number()) refuse("a number");
  return value_->get<double>();
}

long long JsonReader::integer() const {
  if (!value_->is_number_integer()) refuse("a whole number");
  return value_->get<long long>();
}

std::string JsonReader::text() const {
  if (!value_->is_string()) refuse("a string");
  return value_->get<std::string>();
}

bool JsonReader::boolean() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::optional<double> JsonReader::maybe_number(const std::string& name) const {
  const auto member = find(name);
  return member ? std::optional(member->number()) : std::nullopt;
}

std::optional<int> JsonReader::maybe_int(const std::string& name) const {
  const auto member = find(name);
  if (!member) return std::nullopt;
  const long long value = member->integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    member->refuse("a whole number that fits 32 bits");
  }
  return static_cast<int>(value);
}

std::optional<std::string> JsonReader::maybe_text(const std::string& name) const {
  const auto member = find(name);
  return member ? std::optional(member->text()) : std::nullopt;
}

std::optional<bool> JsonReader::maybe_boolean(const std::string& name) const {
  const auto member = find(name);
  return member ? std::optional(member->boolean()) : std::nullopt;
}

std::vector<JsonReader> JsonReader::list(const std::string& name) const {
  const auto member = find(name);
  return member ? member->elements() : std::vector<JsonReader>{};
}

std::string reason_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return text.starts_with("[json.exception") && end != std::string::npos ? text.substr(end + 2)
                                                                         : text;
}

bool refuse_deep_json(int depth, nlohmann::json::parse_event_t /*event*/,
                      nlohmann::json& /*value*/) {
  if (depth > kDeepestJson)
    throw std::length_error("nested deeper than " + std::to_string(kDeepestJson) + " levels");
  return true;
}

nlohmann::json parse_foreign_json(std::string_view text) {
  try {
    return nlohmann::json::parse(text, refuse_deep_json, /*allow_exceptions=*/false);
  } catch (const std::length_error&) {
    return nlohmann::json::value_t::discarded;
  }
}

}  // namespace memduel
