// The files of one APPFL experiment, read key by key: what is asked for counts as understood, the
// rest is lost, and every loss is named.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "laboratory/appfl/appfl_yaml.h"

namespace memduel {

struct AppflFile {
  std::string name;  ///< for messages
  std::string text;
};

enum class LossKind {
  changes_memory,  ///< what is replayed in its place keeps something else in memory
  other,
  harmless,  ///< names, logs and plots
};

/// A setting that memduel could not carry over, or only in part.
struct ImportLoss {
  std::string file;
  int line = 0;
  std::string key;
  std::string why;
  LossKind kind = LossKind::other;
  int same_in_files = 0;  ///< further client files with the same loss
};

class AppflSources {
 public:
  /// Throws what read_appfl_yaml throws, and Error(usage) without a client file or with one file
  /// given twice.
  AppflSources(const AppflFile& server, const std::vector<AppflFile>& clients);

  [[nodiscard]] std::size_t client_files() const { return tables_.size() - 1; }
  [[nodiscard]] const std::string& server_file() const { return tables_.front().file; }

  /// A value of the server's file.
  std::optional<AppflValue> server(const std::string& key);

  /// A value of the clients' files: the first file's; another value elsewhere is a loss.
  std::optional<AppflValue> client(const std::string& key);

  /// The value of each client file that has it, by the file's number from 0.
  std::map<std::size_t, AppflValue> each_client(const std::string& key);

  /// A value that the server hands to its clients under client_configs and that wins over the
  /// clients' own, as in APPFL's merge; a client's own that differs is a loss.
  std::optional<AppflValue> shared(const std::string& key);

  /// Values of all files whose key is `suffix` or ends with "." and it.
  std::vector<AppflValue> ending_with(std::string_view suffix);

  /// Values of all files whose key is `prefix` or begins with it and ".".
  std::vector<AppflValue> below(const std::string& prefix);

  /// Counts values below `prefix` in every file as understood: they have no effect as configured.
  void ignore(const std::string& prefix);

  void lose(const AppflValue& value, const std::string& why, LossKind kind = LossKind::other);

  /// Loses a value that is there and none of `same`.
  void expect(const std::optional<AppflValue>& value, const std::vector<std::string>& same,
              const std::string& otherwise, LossKind kind = LossKind::other);

  /// The losses so far and every value nobody asked for, each with its reason; those that change
  /// memory first.
  std::vector<ImportLoss> losses() const;

  /// Throws Error(usage) for a value that is missing, naming the file it should stand in.
  [[noreturn]] void missing(const std::string& key, bool in_client = false) const;

 private:
  struct Table {
    std::string file;
    std::vector<AppflValue> values;
    std::set<std::string> asked;
  };

  static const AppflValue* find(Table& table, const std::string& key);
  template <class Wanted>
  std::vector<AppflValue> all_where(Wanted wanted);

  std::vector<Table> tables_;  ///< the server's, then the clients'
  std::vector<ImportLoss> losses_;
};

/// A whole number from `least` to `most`. Throws Error(usage) at the value's place.
std::int64_t to_whole(const AppflValue& value, std::int64_t least, std::int64_t most);
/// A finite number above 0.
double to_positive(const AppflValue& value);
bool to_flag(const AppflValue& value);
/// Any text; throws where there is none.
const std::string& to_text(const AppflValue& value);

/// Throws Error(usage): found this value, expected one of `expected`; names the nearest.
[[noreturn]] void refuse_value(const AppflValue& value, const std::vector<std::string>& expected,
                               const std::string& advice = {});

}  // namespace memduel
