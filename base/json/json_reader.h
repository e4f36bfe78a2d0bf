// Typed access to parsed JSON with errors that name the path.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memduel {

/// A value and where it stands. Every read checks the type and throws Error(io) naming file, path,
/// what was found and what was expected.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& value, std::string file, std::string path = "");

  /// A member that must be there.
  [[nodiscard]] JsonReader at(const std::string& name) const;
  /// A member that may be missing or null.
  [[nodiscard]] std::optional<JsonReader> find(const std::string& name) const;
  [[nodiscard]] std::vector<JsonReader> elements() const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;

  [[nodiscard]] double number() const;
  [[nodiscard]] long long integer() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] const nlohmann::json& raw() const { return *value_; }

  [[nodiscard]] std::optional<double> maybe_number(const std::string& name) const;
  [[nodiscard]] std::optional<int> maybe_int(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> maybe_text(const std::string& name) const;
  [[nodiscard]] std::optional<bool> maybe_boolean(const std::string& name) const;
  /// Elements of an array member, none when it is missing.
  [[nodiscard]] std::vector<JsonReader> list(const std::string& name) const;

  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  const nlohmann::json* value_;
  std::string file_;
  std::string path_;
};

}  // namespace memduel
