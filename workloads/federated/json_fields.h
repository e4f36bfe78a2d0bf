// Strict reading of a JSON object: every key is asked for, and what nobody asked for is an error.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace memduel {

class JsonFields {
 public:
  /// @param file and path: where the object stands, for messages: "worker.json",
  /// "workload.dataset". Throws Error(usage) when `object` is not one.
  JsonFields(const nlohmann::json& object, std::string file, std::string path);

  template <class T>
  T get(const std::string& key) {
    return convert<T>(required(key), key);
  }

  template <class T>
  T get_or(const std::string& key, T fallback) {
    known_.insert(key);
    const auto found = object_.find(key);
    return found == object_.end() ? fallback : convert<T>(*found, key);
  }

  /// A whole number of at least `least`.
  std::int64_t integer(const std::string& key, std::int64_t least);
  std::int64_t integer_or(const std::string& key, std::int64_t least, std::int64_t fallback);
  double positive(const std::string& key);

  /// One of `choices`.
  std::string word(const std::string& key, const std::vector<std::string>& choices);
  std::string word_or(const std::string& key, const std::vector<std::string>& choices,
                      const std::string& fallback);

  JsonFields object(const std::string& key);
  [[nodiscard]] bool has(const std::string& key);

  /// Throws Error(usage) naming a key that nobody asked for, and the nearest that is known.
  void expect_no_more() const;

  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

 private:
  const nlohmann::json& required(const std::string& key);
  [[nodiscard]] std::string place(const std::string& key) const;
  std::int64_t checked_integer(const nlohmann::json& value, const std::string& key,
                               std::int64_t least) const;

  template <class T>
  T convert(const nlohmann::json& value, const std::string& key) const {
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      fail(key, "found " + value.dump() + " of another type than expected");
    }
  }

  const nlohmann::json& object_;
  std::string file_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace memduel
