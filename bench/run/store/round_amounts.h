// The numbers of a round or phase in run.sqlite: one JSON array, whose names are another array that
// most rounds of a run share. With a row for each number a run of ten thousand rounds was five
// times as large, and its report took a third longer. The views round_metric and phase_metric show
// them as rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/run_data.h"
#include "run/store.h"

namespace memduel {

/// "[1048576,2.5,null]", in the order of the names; null is a number that is not finite.
std::string amounts_text(const Metrics& metrics);

/// The ids of lists of names in one store. Not thread-safe.
class MetricNamesWriter {
 public:
  explicit MetricNamesWriter(const sqlite::Database& database);
  /// Adds the list of names if the store has none that is equal.
  std::int64_t id_of(const Metrics& metrics);

 private:
  sqlite::Statement insert_;
  sqlite::Statement select_;
  std::map<std::string, std::int64_t> known_;  ///< by the JSON array
};

/// Reads the numbers of rounds and phases of one store. Not thread-safe.
class AmountsReader {
 public:
  explicit AmountsReader(const sqlite::Database& database);
  /// Throws Error(io) for an unknown list of names, and for text that amounts_text cannot have
  /// written for it.
  Metrics metrics_of(std::int64_t names, std::string_view amounts);

 private:
  const std::vector<MetricName>& names_of(std::int64_t id);

  sqlite::Statement select_;
  std::map<std::int64_t, std::vector<MetricName>> known_;
  std::vector<double> amounts_;
};

}  // namespace memduel
