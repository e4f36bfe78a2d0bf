// An APPFL configuration file as a flat table: every value under its dotted key, with its line.
// YAML aliases and merge keys are followed, within bounds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// One value of a file.
struct AppflValue {
  std::string file;
  int line = 0;                     ///< from 1
  std::string key;                  ///< "server_configs.num_clients"; list items by their number
  std::optional<std::string> text;  ///< absent: null, an empty mapping or an empty list

  /// "server.yaml, line 12, server_configs.num_clients", as Error's `where`.
  [[nodiscard]] std::string place() const;
};

/// The values of one document in the order of the file. Throws Error(usage) naming file and line
/// for text that is no YAML or no mapping, repeats a key, holds a second document, is nested deeper
/// than 30 levels, expands to more than 10,000 values or is larger than 256 KiB: APPFL's own files
/// have about 60 values in 2 KiB.
std::vector<AppflValue> read_appfl_yaml(std::string_view text, const std::string& file);

}  // namespace memduel
