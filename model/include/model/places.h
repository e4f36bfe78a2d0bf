// Places in a JSON document, as messages name them: its file, the line, the path.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace memduel {

/// A place in a document, from its root.
using JsonPath = std::vector<std::string>;

/// Whether a step is an element of a list: 0, 1, …
bool is_index(const std::string& step);

/// The place of a key, or of an element, of the value at `path`.
JsonPath below(JsonPath path, const std::string& key);
JsonPath below(JsonPath path, std::size_t index);

/// {"variants", "0", "name"} as $.variants[0].name.
std::string format_json_path(const JsonPath& path);

/// "config.json, $.variants[0].name", as Error's `where`.
std::string json_place(const std::string& origin, const JsonPath& path);

/// Where the values of one document come from: lines of a file, or options.
class Places {
 public:
  explicit Places(std::string file) : file_(std::move(file)) {}

  /// The file as messages name it, or what stands for one.
  [[nodiscard]] const std::string& file() const { return file_; }

  /// Error's `where` of a value: "config.json, line 4, $.variants[0].name". The line is that of the
  /// nearest value around it which the file has; a text of one line has none.
  [[nodiscard]] std::string at(const JsonPath& path) const;

  /// The same of a place that json_place() made of this file and a path.
  [[nodiscard]] std::string located(const std::string& place) const;

  /// As --set names a value: "variants.0.name".
  [[nodiscard]] std::string set_path(const JsonPath& path) const;

  void add_line(const JsonPath& path, std::size_t line);
  /// From now on the value at `path` is what `option` gives.
  void replace(const JsonPath& path, const std::string& option);
  /// From now on element i of a list is what element from[i] was.
  void rearrange(const std::string& list, const std::vector<std::size_t>& from);
  /// From now on the value at `path` is what the file has at `origin`.
  void move(const JsonPath& path, const JsonPath& origin);

 private:
  /// In the file.
  [[nodiscard]] std::string origin_of(const std::string& path) const;

  std::string file_;
  std::map<std::string, std::size_t> lines_;    ///< by format_json_path()
  std::map<std::string, std::string> options_;  ///< likewise
  std::map<std::string, std::string> origins_;  ///< likewise; what is below moves with it
};

}  // namespace memduel
