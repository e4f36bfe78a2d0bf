// The JSON that hyperfine exports: what its quantities are in memduel, and a file of it as a run.
// Sources: src/export/json.rs, src/benchmark/ and src/timer/unix_timer.rs of hyperfine 2.0.0
// (schema 2) and 1.20.0.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "model/metric_catalogue.h"
#include "model/run_data.h"

namespace memduel {

/// A quantity of schema 2. Its values are those of the role `all`.
struct HyperfineQuantity {
  const char* name;
  const char* unit;
  std::string_view metric;
  std::string_view or_else = {};  ///< of a job with one process
};

/// The last one is memduel's own, in the files that it exports.
inline constexpr std::array kHyperfineQuantities = {
    HyperfineQuantity{"time_wall_clock", "second", kRoundSeconds},
    HyperfineQuantity{"time_cpu", "second", kCpuSeconds},
    HyperfineQuantity{"memory_peak_resident", "byte", kPeakLargestProcess, kPeakRss},
    HyperfineQuantity{"memory_peak_resident_all_processes", "byte", kPeakRss}};

/// In `metadata.generator` of the files that memduel exports.
inline constexpr const char* kHyperfineGenerator = "memduel";

/// Whether the document looks like an export of hyperfine, of any version.
bool is_hyperfine(const nlohmann::json& document);

/// Whether the file contains such a document. False if it cannot be read.
bool is_hyperfine_file(const std::string& path);

/// A variant for each result, the first one the baseline, and a trial for each of its runs.
/// Variants have the names of the commands, with _ for blanks, the values of their parameters
/// ("n-1"), or commands of one word; letters if one of them cannot be the name of a variant.
///
/// Schema 2: wall time, CPU time and the peak RSS of the largest process of each run. hyperfine 1:
/// wall time of each run. Its memory is the maximum of all runs so far (ru_maxrss of
/// RUSAGE_CHILDREN), so the last trial of a result has the largest value, if it is known to be of
/// that result. CPU time of single runs is not in these files.
///
/// Limitations and warnings state what the file does not contain. Analyse it with Design::unpaired.
/// Throws Error(io) that names `where` and the place for anything else than that format: another
/// schema, no result or run, arrays of unequal lengths, values that are negative or no numbers.
RunData run_from_hyperfine(const nlohmann::json& document, const std::string& where);

/// Makes the command that is to be compared the baseline of each run: `chosen`, which is a variant
/// or a command line; without it the one that both files have, by its line or its name, else the
/// first one. Returns a warning if there are others. Throws Error(usage) if a file does not have
/// `chosen`, and without it if the files have several commands in common.
std::optional<Note> choose_commands(RunData& a, RunData& b, const std::string& chosen);

/// The results of one file, compared with `baseline` (empty: the first one). A warning states that
/// they were not interleaved. Throws Error(usage) for a file of one result, and for a baseline that
/// is none of them.
RunData comparison_within(RunData run, const std::string& baseline, const std::string& where);

}  // namespace memduel
