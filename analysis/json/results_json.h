// results.json, schema "memduel.results/1": written and read here and nowhere else. Numbers that
// are absent are written as null where the schema always shows the field, and left out elsewhere.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analysis/values/results.h"
#include "base/run_directory.h"

namespace memduel {

/// Whole. Of a long run it takes ten times the memory of its rounds: write_results does not.
nlohmann::json results_to_json(const Results& results);

/// Takes a text piece by piece.
using TextSink = std::function<void(std::string_view)>;

/// Writes the document as nlohmann's dump(indent) would, `document` with results_without_rounds in
/// it somewhere, a round at a time. Bytes that are not UTF-8 become U+FFFD.
class ResultsWriter {
 public:
  explicit ResultsWriter(const Results& results);

  /// The results with a mark in the place of every list of rounds.
  [[nodiscard]] nlohmann::json results_without_rounds() const;

  void write(const nlohmann::json& document, int indent, const TextSink& sink) const;

 private:
  const Results& results_;
  std::string mark_;  ///< what no text of the results holds
};

/// results.json, as ResultsWriter gives it.
void write_results(const Results& results, int indent, const TextSink& sink);

/// Throws Error(io) that names the JSON path, what was found and what was expected; another schema
/// version is one of those errors. `where` names the file in it. Unknown fields are ignored, so
/// that sections added by later versions do no harm.
Results results_from_json(const nlohmann::json& json, const std::string& where = kResultsFile);

}  // namespace memduel
