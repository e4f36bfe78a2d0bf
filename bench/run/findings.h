// Where two programs print different things, or leave different texts: the lines that tell them
// apart.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "analysis/values/results.h"
#include "base/run_data.h"

namespace memduel {

/// The first line in which two texts differ, numbered from 1, by what each has there, cut after 120
/// characters. Words with a slash count as equal: paths differ between arms. Absent where no line
/// differs.
std::optional<LineDifference> first_difference(std::string_view baseline,
                                               std::string_view candidate);

/// Puts it beside each standard output that differs between two arms, of the first block whose logs
/// are still in the run's `directory`. Of a file that varies by itself it compares the lines that
/// do not; a line that differs makes the result another one.
void add_printed_differences(Results& results, const RunData& run,
                             const std::filesystem::path& directory);

}  // namespace memduel
