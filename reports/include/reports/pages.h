// The HTML pages: the report of a run, a flame graph, and the index of a suite.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reports/report_model.h"
#include "verdict/results.h"

namespace memduel {

/// A complete HTML page: the viewer, and the model as base64 of gzip of JSON. Its content security
/// policy lets only the viewer's own script and style through, by their hashes.
std::string render_html(const ReportModel& model);

/// `data` as profilers/profile/include/profile/outputs.h describes it.
std::string render_flame_page(const std::string& title, const std::string& data);

/// Numbers by round that a page holds: 20 MB of JSON, 1 MB of them packed.
inline constexpr std::size_t kMostRoundValues = 300'000;

/// Leaves one of several successive rounds, in all trials the same: that in which the resident
/// memory of all roles and trials together was largest; the first and the last stay. Returns of how
/// many rounds one is left; 1 where nothing had to go.
int thin_rounds(Results& results, std::size_t most_values = kMostRoundValues);

enum class SuiteOutcome { waiting, passed, ungated, failed, undecided, broken };

/// "not run yet", "gates passed", "no gates", "gate failed", "inconclusive", "could not be
/// measured".
std::string word(SuiteOutcome outcome);

/// What a gated row of a candidate came to.
struct SuiteCell {
  std::string quantity;  ///< "server memory above idle at its peak"
  std::string effect;    ///< "−94% (160.0 → 10.0 MiB)"
  Verdict verdict = Verdict::inconclusive;
  bool more = false;  ///< the candidate has more of it
};

struct SuiteLine {
  std::string candidate;
  std::string baseline;
  std::vector<SuiteCell> cells;
  std::string models;  ///< whether it computes the same; empty where nothing was compared
};

struct SuiteEntry {
  std::string name;  ///< and directory, below the suite's
  SuiteOutcome outcome = SuiteOutcome::waiting;
  std::string problem;  ///< of one that could not be measured
  int exit_code = 0;    ///< that `memduel run` of it alone would have had
  std::optional<double> seconds;
  std::vector<SuiteLine> lines;
};

struct SuiteIndex {
  std::string name;
  std::string machine;  ///< "2 x Xeon …, Linux 6.1"
  std::string date;     ///< of the first trial
  std::vector<SuiteEntry> entries;
};

/// The rows that gates name, and how they came out.
SuiteEntry suite_entry(const std::string& name, const Results& results);

/// "3 experiments: 2 passed, 1 not run yet".
std::string suite_summary(const SuiteIndex& index);

std::string render_suite_page(const SuiteIndex& index);
inline constexpr const char* kSuiteSchema = "memduel.suite/2";
/// The same for scripts.
nlohmann::json suite_json(const SuiteIndex& index);
/// A line for each experiment.
std::string render_suite_text(const SuiteIndex& index);

}  // namespace memduel
