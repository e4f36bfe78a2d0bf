// Places in a JSON document, as messages name them: its file, the line, the path.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace memduel {

/// A place in a document, from its root.
using JsonPath = std::vector<std::string>;

/// Whether a step is an element of a list: 0, 1, …
bool is_index(const std::string& step);

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

  /// The same of a place in this file that somebody else names, "config.json, $.workload.rounds".
  [[nodiscard]] std::string located(const std::string& place) const;

  void add_line(const JsonPath& path, std::size_t line);
  /// From now on the value at `path` is what `option` gives.
  void replace(const JsonPath& path, const std::string& option);
  /// The lines of the elements of the list at `path`, each as that of the element `from[i]` now.
  void rearrange(const std::string& list, const std::vector<std::size_t>& from);

 private:
  std::string file_;
  std::map<std::string, std::size_t> lines_;    ///< by format_json_path()
  std::map<std::string, std::string> options_;  ///< likewise
  std::vector<std::size_t> rearranged_;         ///< of `list_`, by element
  std::string list_;
};

}  // namespace memduel
