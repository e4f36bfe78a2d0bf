// What every report begins with: what was compared, all answers in one line, the largest causes.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace memduel {

struct Comparison;
struct ReportModel;
struct Results;

/// An arm and what makes it different, as its config says it.
struct ComparedArm {
  std::string name;
  std::string words;  ///< "./server --new", "preset appfl-optimized", "as configured"
};

/// The baseline first; without arms that take a candidate apart. Empty where the config says of no
/// candidate what makes it different.
std::vector<ComparedArm> compared_arms(const ReportModel& model);

/// "8 runs of each, 2026-11-26, 2 cores, 23.5 GiB".
std::string setting_words(const ReportModel& model);

/// Time per round of the reference role where it has one, else of the first role that has; null
/// where none has.
const Comparison* time_row(const Results& results, const std::string& candidate);

/// "optimized: better on 2 of 2 checks; the same model; no slower. other: 1 gate failed." Of the
/// candidate that ranks first, and of every other its gates that failed or were not measured; empty
/// where nothing was checked.
std::string overall_sentence(const ReportModel& model);

}  // namespace memduel
