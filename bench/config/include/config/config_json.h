// A config's JSON as people write it (comments allowed): places inside it, and one --set applied to
// it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// A place in a document, from its root.
using JsonPath = std::vector<std::string>;

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

/// A document and where its values come from.
struct ConfigTree {
  nlohmann::json root;
  Places places;
};

/// Parses JSON with // and /* */ comments. Throws Error(usage) naming `origin`, line and column.
ConfigTree parse_config_text(std::string_view text, const std::string& origin);

/// Applies one --set: `arms.optimized.env.OMP_NUM_THREADS=2`. The value is read as JSON, else taken
/// as a string; an element of an array is named by its index or its "name". Objects on the way that
/// do not exist are made. Returns the place of the value. Throws Error(usage) for a text without
/// '=' or a path through a value that is no object or array.
JsonPath set_json_value(nlohmann::json& document, const std::string& assignment);

}  // namespace memduel
